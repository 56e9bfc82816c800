// What a preprocessor leaves to who resizes: windows that make its own images.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/opencv_image.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/resize.h"
#include "tests/support/test_jpeg.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

constexpr int kSize = 32;
using Pixels = std::vector<std::uint32_t>;

// Takes every window.
class Taker final : public PixelPlace {
 public:
  [[nodiscard]] std::span<std::uint32_t> TakeWindow(int width, int height,
                                                    bool mirrored) override {
    width_ = width;
    height_ = height;
    mirrored_ = mirrored;
    pixels_.resize(static_cast<std::size_t>(width) * height);
    return pixels_;
  }
  [[nodiscard]] std::span<std::uint32_t> TakeImage() override {
    width_ = 0;
    pixels_.resize(std::size_t{kSize} * kSize);
    return pixels_;
  }

  [[nodiscard]] bool has_window() const { return width_ > 0; }
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

  // The window resized, or the image.
  [[nodiscard]] Pixels Image(ResizeKernel kernel) const {
    if (!has_window()) {
      return pixels_;
    }
    RgbImage window;
    window.Resize(width_, height_);
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      window.pixels()[3 * i] = static_cast<std::uint8_t>(pixels_[i] >> 24);
      window.pixels()[3 * i + 1] = static_cast<std::uint8_t>(pixels_[i] >> 16);
      window.pixels()[3 * i + 2] = static_cast<std::uint8_t>(pixels_[i] >> 8);
    }
    Pixels image(std::size_t{kSize} * kSize);
    Resize(kernel, window.view(), kSize, kSize, image);
    if (mirrored_) {
      MirrorRows(kSize, image);
    }
    return image;
  }

 private:
  int width_ = 0;
  int height_ = 0;
  bool mirrored_ = false;
  Pixels pixels_;
};

class WindowTest : public testing::Test {
 protected:
  // Fills a place and expects it to make the preprocessor's image. Returns how
  // often it was by a window.
  int Windows(const std::string& encoded) {
    Preprocessor preprocessor(options_);
    int windows = 0;
    for (std::uint64_t position = 0; position < 30; ++position) {
      const SampleKey key{.seed = 5, .position = position};
      Pixels image(std::size_t{kSize} * kSize);
      counts_ = preprocessor.Fill(AsBytes(encoded), key, image);
      const FillCounts counts =
          preprocessor.Fill(AsBytes(encoded), key, place_);
      EXPECT_EQ(place_.Image(KernelOf(options_)), image) << position;
      EXPECT_EQ(counts.decoded_pixels, counts_.decoded_pixels);
      EXPECT_EQ(counts.outside_pixels, counts_.outside_pixels);
      windows += place_.has_window() ? 1 : 0;
    }
    return windows;
  }

  PreprocessOptions options_{.image_size = kSize};
  Taker place_;
  FillCounts counts_;
};

TEST_F(WindowTest, MakesTheReferencesImages) {
  EXPECT_EQ(Windows(TestJpeg({.width = 90, .height = 70})), 30);
  EXPECT_EQ(Windows(TestJpeg({.width = 9, .height = 7})), 30);
  options_.interpolation = Interpolation::kBilinear;
  EXPECT_EQ(Windows(TestJpeg({.width = 90, .height = 70})), 30);
}

TEST_F(WindowTest, MakesThoseOfOtherRecipes) {
  options_.recipe = Recipe::kPlain;
  EXPECT_EQ(Windows(TestJpeg({.width = 80, .height = 50})), 30);
  EXPECT_EQ(place_.width(), 80);
  EXPECT_EQ(place_.height(), 50);
  options_.recipe = Recipe::kTorchvision;
  options_.interpolation = Interpolation::kBicubic;
  EXPECT_EQ(Windows(TestJpeg({.width = 80, .height = 50})), 30);
}

TEST_F(WindowTest, MakesThoseOfOtherFormats) {
  RgbImage image;
  image.Resize(60, 40);
  std::uint8_t value = 0;
  for (std::uint8_t& byte : image.pixels()) {
    byte = value++;
  }
  EXPECT_EQ(Windows(EncodePng(image.view())), 30);
}

// Such a resize passes over rows or columns, which are not decoded.
TEST_F(WindowTest, IsNoneOfWhatIsMoreThanThreeTimesAsLarge) {
  const int windows = Windows(TestJpeg({.width = 180, .height = 150}));
  EXPECT_GT(windows, 3);
  EXPECT_LT(windows, 27);
  options_.scaled_decode = true;
  EXPECT_EQ(Windows(TestJpeg({.width = 180, .height = 150})), 30);
}

// Of which its evaluation shows a part alone.
TEST_F(WindowTest, IsNoneOfALargerResize) {
  options_.recipe = Recipe::kTorchvision;
  options_.interpolation = Interpolation::kBilinear;
  options_.training = false;
  EXPECT_EQ(Windows(TestJpeg({.width = 90, .height = 70})), 0);
}

TEST_F(WindowTest, AFailedOneLeavesNothingBehind) {
  const std::string jpeg = TestJpeg({.width = 64, .height = 64});
  Preprocessor preprocessor(options_);
  EXPECT_THROW(
      preprocessor.Fill(AsBytes(jpeg).first(jpeg.size() / 2), {}, place_),
      DataError);
  EXPECT_EQ(Windows(jpeg), 30);
}

}  // namespace
}  // namespace infeed
