#include "preprocess/codecs/image_decoder.h"

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

TEST(ImageDecoderTest, DetectsKindsByContent) {
  ImageDecoder decoder;
  RgbImage image;
  decoder.Decode(AsBytes(TestJpeg({.width = 31, .height = 17})), image);
  EXPECT_EQ(image.width(), 31);
  EXPECT_EQ(image.height(), 17);
  const RgbImage photograph = TestPhotograph(20, 10, 1);
  decoder.Decode(AsBytes(EncodePng(photograph.view())), image);
  EXPECT_EQ(Flat(image.view()), Flat(photograph.view()));
}

TEST(ImageDecoderTest, StaysUsableAfterBadBytes) {
  ImageDecoder decoder;
  RgbImage image;
  const std::string jpeg = TestJpeg({.width = 31, .height = 17});
  EXPECT_THROW(decoder.Decode(AsBytes(jpeg.substr(0, 300)), image), DataError);
  EXPECT_THROW(decoder.Decode(AsBytes("neither"), image), DataError);
  decoder.Decode(AsBytes(jpeg), image);
  EXPECT_EQ(image.width(), 31);
}

TEST(ImageDecoderTest, LimitsBothKinds) {
  ImageDecoder decoder({.max_pixels = 100});
  RgbImage image;
  EXPECT_THROW(
      decoder.Decode(AsBytes(TestJpeg({.width = 11, .height = 10})), image),
      DataError);
  EXPECT_THROW(decoder.Decode(
                   AsBytes(EncodePng(TestPhotograph(11, 10, 1).view())), image),
               DataError);
}

}  // namespace
}  // namespace infeed
