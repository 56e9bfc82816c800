#include "trainer/log/pictures.h"

#include <array>
#include <cstdint>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "preprocess/codecs/image_decoder.h"

namespace infeed {
namespace {

using Color = std::array<int, 3>;

// The pixels of a picture, read back.
class Pixels {
 public:
  explicit Pixels(const SummaryImage& picture) {
    DecodeOtherImage(std::as_bytes(std::span(picture.png)), 1 << 22, image_);
    EXPECT_EQ(image_.width(), picture.width);
    EXPECT_EQ(image_.height(), picture.height);
  }
  [[nodiscard]] Color At(int x, int y) {
    const std::uint8_t* const pixel = image_.row(y) + std::ptrdiff_t{x} * 3;
    return {pixel[0], pixel[1], pixel[2]};
  }

 private:
  RgbImage image_;
};

constexpr Color kWhite = {255, 255, 255};
constexpr Color kBlue = {23, 78, 166};

TEST(PicturesTest, ShowsAnImageOfABatch) {
  Batch batch({.size = 2, .image_size = 3});
  std::ranges::fill(batch.pixels(), 0);
  batch.slot_pixels(1)[5] = 0x0A'0B'0C'00;
  Pixels pixels(InputPicture(batch, 1));
  EXPECT_EQ(pixels.At(2, 1), (Color{10, 11, 12}));
  EXPECT_EQ(pixels.At(0, 0), (Color{0, 0, 0}));
}

TEST(PicturesTest, KeepsSmallImagesOfAPageAsTheyAre) {
  Batch small({.size = 1, .image_size = 95});
  std::ranges::fill(small.pixels(), 0x0A'0B'0C'00);
  const WebPicture exact = PictureForWeb(small, 0);
  EXPECT_EQ(exact.type, "image/png");
  EXPECT_EQ(exact.bytes, InputPicture(small, 0).png);
  Batch large({.size = 1, .image_size = 96});
  std::ranges::fill(large.pixels(), 0x0A'0B'0C'00);
  const WebPicture lossy = PictureForWeb(large, 0);
  EXPECT_EQ(lossy.type, "image/jpeg");
  EXPECT_EQ(lossy.bytes.substr(0, 3), "\xff\xd8\xff");
}

TEST(PicturesTest, ShadesAConfusionMatrixByRows) {
  EvalResult result = {.classes = 2, .confusion = {9, 0, 1, 3}};
  Pixels pixels(ConfusionPicture(result));
  EXPECT_EQ(pixels.At(100, 100), kBlue);
  EXPECT_EQ(pixels.At(400, 100), kWhite);
  // A quarter of the row is half of the way.
  EXPECT_EQ(pixels.At(100, 400), (Color{139, 167, 211}));
  result.confusion = {0, 0, 0, 1};  // A class without images.
  EXPECT_EQ(Pixels(ConfusionPicture(result)).At(100, 100), kWhite);
}

TEST(PicturesTest, GivesEachOfManyClassesAPixel) {
  EvalResult result;
  result.classes = 1000;
  result.confusion.resize(1'000'000);
  result.confusion[999'998] = 1;
  const SummaryImage picture = ConfusionPicture(result);
  EXPECT_EQ(picture.width, 1000);
  EXPECT_EQ(Pixels(picture).At(998, 999), kBlue);
}

TEST(PicturesTest, FillsTheAreaUnderACurve) {
  EvalResult result;
  result.roc = {{0, 0}, {0, 0.5}, {1, 1}};
  Pixels pixels(RocPicture(result));
  EXPECT_EQ(pixels.At(0, 165), kBlue);  // straight up to a half
  EXPECT_EQ(pixels.At(0, 155), kWhite);
  EXPECT_EQ(pixels.At(160, 85), kBlue);  // then to the corner
  EXPECT_EQ(pixels.At(160, 75), kWhite);
  EXPECT_EQ(pixels.At(300, 300), kBlue);
  EXPECT_NE(pixels.At(100, 219), kBlue);  // the diagonal
}

}  // namespace
}  // namespace infeed
