#include "trainer/replay/record_picture.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "preprocess/codecs/image_decoder.h"
#include "preprocess/pixels/image.h"
#include "preprocess/pixels/pack.h"
#include "records/example/imagenet_example.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed::record_picture_test {

WebPicture PictureOf(const ImagenetExample& example, const Geometry& geometry) {
  const std::string payload = BuildImagenetExample(example);
  return RecordPicture(std::as_bytes(std::span(payload)),
                       std::string(kImageKey), geometry, {28, 28});
}

WebPicture PictureOf(const std::string& encoded, const Geometry& geometry) {
  return PictureOf({.label = 1, .encoded = encoded}, geometry);
}

std::string FlatJpeg(int width, int height) {
  return TestJpeg({.width = width,
                   .height = height,
                   .color = TestColor::kGray,
                   .content = TestContent::kFlat});
}

// Whether the pixel has the frame's colour: much more red than green.
bool IsFramed(RgbImage& image, int x, int y) {
  const std::uint8_t* const pixel = image.row(y) + std::ptrdiff_t{x} * 3;
  return pixel[0] > pixel[1] + 100;
}

RgbImage Decoded(const WebPicture& picture) {
  RgbImage image;
  ImageDecoder().Decode(std::as_bytes(std::span(picture.bytes)), image);
  return image;
}

// A window of 56 x 28 pixels at (16, 8) that became 28 x 28.
TEST(RecordPictureTest, FramesTheWindow) {
  for (const bool is_mirrored : {false, true}) {
    const WebPicture picture =
        PictureOf(FlatJpeg(96, 64), {.source = {64, 96},
                                     .window = {8, 16, 28, 56},
                                     .resized = {28, 28},
                                     .is_mirrored = is_mirrored});
    EXPECT_EQ(picture.type, "image/jpeg");
    RgbImage image = Decoded(picture);
    ASSERT_EQ(image.width(), 96);
    ASSERT_EQ(image.height(), 64);
    EXPECT_TRUE(IsFramed(image, 16, 20));
    EXPECT_TRUE(IsFramed(image, 71, 20));
    EXPECT_TRUE(IsFramed(image, 40, 8));
    EXPECT_TRUE(IsFramed(image, 40, 35));
    EXPECT_FALSE(IsFramed(image, 40, 20));
    EXPECT_FALSE(IsFramed(image, 8, 20));
    EXPECT_FALSE(IsFramed(image, 88, 50));
  }
}

TEST(RecordPictureTest, ALargeImageIsMadeSmaller) {
  RgbImage image =
      Decoded(PictureOf(FlatJpeg(1024, 512), {.source = {512, 1024},
                                              .window = {0, 0, 512, 512},
                                              .resized = {28, 28}}));
  EXPECT_EQ(image.width(), 256);
  EXPECT_EQ(image.height(), 128);
  EXPECT_TRUE(IsFramed(image, 127, 64));
  EXPECT_FALSE(IsFramed(image, 192, 64));
}

TEST(RecordPictureTest, ShowsPackedPixelsIfTheirSizeIsRight) {
  const std::vector<std::uint32_t> blue(32 * 32, PackPixel(0, 0, 200));
  const Geometry geometry = {
      .source = {32, 32}, .window = {0, 0, 32, 32}, .resized = {28, 28}};
  ImagenetExample example;
  example.label = 1;
  example.height = example.width = 32;
  example.packed = {reinterpret_cast<const char*>(blue.data()),
                    blue.size() * sizeof(blue[0])};
  RgbImage image = Decoded(PictureOf(example, geometry));
  ASSERT_EQ(image.width(), 32);
  const std::uint8_t* const pixel = image.row(16) + 16 * 3;
  EXPECT_LT(pixel[0], 50);
  EXPECT_GT(pixel[2], 150);
  for (const std::int64_t height :
       {std::int64_t{31}, std::int64_t{0}, std::int64_t{1} << 62}) {
    example.height = height;
    EXPECT_EQ(PictureOf(example, geometry).type, "") << height;
  }
}

TEST(RecordPictureTest, IsEmptyForAnImageThatCannotBeDecoded) {
  const WebPicture picture = PictureOf(
      "not a JPEG",
      {.source = {8, 8}, .window = {0, 0, 8, 8}, .resized = {28, 28}});
  EXPECT_EQ(picture.type, "");
  EXPECT_EQ(picture.bytes, "");
}

}  // namespace infeed::record_picture_test
