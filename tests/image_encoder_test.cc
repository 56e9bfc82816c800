#include "tools/image_encoder.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "preprocess/opencv_image.h"
#include "tests/support/test_jpeg.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string MessageFor(const std::string& file, bool verify = true) {
  ImageEncoder encoder({.verify = verify});
  try {
    (void)encoder.Encode(file);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ImageEncoderTest, LeavesAJpegAsItIs) {
  const std::string file = TestJpeg({.width = 33, .height = 17});
  ImageEncoder encoder;
  const EncodedImage encoded = encoder.Encode(file);
  EXPECT_EQ(encoded.bytes, file);
  EXPECT_EQ(encoded.width, 33);
  EXPECT_EQ(encoded.height, 17);
  EXPECT_EQ(encoded.reencoded, "");
}

TEST(ImageEncoderTest, LeavesAGrayAndAProgressiveJpegAsTheyAre) {
  ImageEncoder encoder;
  for (const TestJpegOptions& options :
       {TestJpegOptions{.color = TestColor::kGray},
        TestJpegOptions{.progressive = true}}) {
    const std::string file = TestJpeg(options);
    EXPECT_EQ(encoder.Encode(file).bytes, file);
  }
}

TEST(ImageEncoderTest, MakesAnRgbJpegOfEachKindOfCmyk) {
  ImageEncoder encoder;
  for (const TestColor color :
       {TestColor::kCmyk, TestColor::kAdobeCmyk, TestColor::kAdobeYcck}) {
    const std::string file =
        TestJpeg({.width = 33, .height = 17, .color = color});
    const EncodedImage encoded = encoder.Encode(file);
    EXPECT_EQ(encoded.reencoded, "CMYK");
    EXPECT_EQ(encoded.width, 33);
    const JpegInfo info = JpegDecoder().ReadHeader(AsBytes(encoded.bytes));
    EXPECT_EQ(info.components, 3);
    EXPECT_EQ(info.height, 17);
  }
}

TEST(ImageEncoderTest, MakesAJpegOfAPngWithNearlyItsPixels) {
  const RgbImage image = TestPhotograph(40, 30, 1);
  const std::string png = EncodePng(image.view());
  ImageEncoder encoder;
  const EncodedImage encoded = encoder.Encode(png);
  EXPECT_EQ(encoded.reencoded, "not a JPEG");
  JpegDecoder decoder;
  RgbImage decoded;
  ASSERT_EQ(decoder.ReadHeader(AsBytes(encoded.bytes)).width, 40);
  decoder.Decode(decoded);
  const std::string expected = Flat(image.view());
  const std::string actual = Flat(decoded.view());
  double difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::abs(static_cast<unsigned char>(expected[i]) -
                           static_cast<unsigned char>(actual[i]));
  }
  EXPECT_LT(difference / static_cast<double>(expected.size()), 6);
}

TEST(ImageEncoderTest, RefusesAnEmptyFile) {
  EXPECT_THAT(MessageFor(""), HasSubstr("the file is empty"));
}

TEST(ImageEncoderTest, RefusesWhatIsNoImage) {
  EXPECT_THAT(MessageFor("<html>404</html>"), Not(HasSubstr("no error")));
}

TEST(ImageEncoderTest, FindsATruncatedJpegOnlyByDecoding) {
  const std::string file = TestJpeg();
  const std::string cut = file.substr(0, file.size() / 2);
  EXPECT_THAT(MessageFor(cut), Not(HasSubstr("no error")));
  EXPECT_THAT(MessageFor(cut, false), HasSubstr("no error"));
}

TEST(ImageEncoderTest, IsUsableAfterABadImage) {
  const std::string file = TestJpeg();
  ImageEncoder encoder;
  EXPECT_THROW((void)encoder.Encode(file.substr(0, 100)), DataError);
  EXPECT_EQ(encoder.Encode(file).bytes, file);
}

}  // namespace
}  // namespace infeed
