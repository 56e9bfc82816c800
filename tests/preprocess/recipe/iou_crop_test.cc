#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preprocess/codecs/png_codec.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/bytes.h"
#include "tests/support/print_window.h"
#include "tests/support/test_jpeg.h"

namespace infeed::iou_crop_test {

constexpr ImageSize kSource{480, 640};
constexpr Window kWhole{0, 0, 480, 640};
using Boxes = std::vector<float>;

// One option all the time, and the given reals over and over.
class Scripted final : public RandomSource {
 public:
  Scripted(std::uint32_t option, std::vector<float> reals)
      : option_(option), reals_(std::move(reals)) {}

  std::uint32_t Below(std::uint32_t n) override {
    EXPECT_EQ(n, 7U);
    ++options_;
    return option_;
  }
  float Real() override { return reals_[real_++ % reals_.size()]; }

  [[nodiscard]] int options() const { return options_; }
  [[nodiscard]] std::size_t reals() const { return real_; }

 private:
  std::uint32_t option_;
  std::vector<float> reals_;
  int options_ = 0;
  std::size_t real_ = 0;
};

// Width and height 304 and 446, then x and y 168 and 17.
TEST(IouCropWindowTest, WidthIsDrawnBeforeHeight) {
  Scripted random(0, {0.25F, 0.9F, 0.5F, 0.5F});
  EXPECT_EQ(IouCropWindow(kSource, Boxes{200, 100, 300, 300}, random),
            (Window{.y = 17, .x = 168, .height = 446, .width = 304}));
  EXPECT_EQ(random.reals(), 4U);
}

TEST(IouCropWindowTest, WithoutBoxesNothingIsDrawn) {
  Scripted random(0, {0.5F});
  EXPECT_EQ(IouCropWindow(kSource, {}, random), kWhole);
  EXPECT_EQ(random.options() + static_cast<int>(random.reals()), 0);
}

TEST(IouCropWindowTest, TheLastOptionIsTheWholeImage) {
  Scripted random(6, {0.5F});
  EXPECT_EQ(IouCropWindow(kSource, Boxes{0, 0, 9, 9}, random), kWhole);
  EXPECT_EQ(random.options(), 1);
}

// A small box overlaps no window by a half.
TEST(IouCropWindowTest, EndsWithTheWholeImageAfterFiftyOptions) {
  Scripted random(3, {0.5F});
  EXPECT_EQ(IouCropWindow(kSource, Boxes{300, 200, 330, 240}, random), kWhole);
  EXPECT_EQ(random.options(), 50);
  EXPECT_EQ(random.reals(), 50U * 40 * 4);
}

// The overlap is that of the part of a box that is in the image.
TEST(IouCropWindowTest, BoxesAreCutAtTheImage) {
  constexpr float kFar = std::numeric_limits<float>::max();
  Scripted random(5, {0.99F, 0.99F, 0.0F, 0.0F});  // at least 0.9
  const Window window =
      IouCropWindow(kSource, Boxes{-kFar, -9, kFar, 9999}, random);
  EXPECT_EQ(window, (Window{.y = 0, .x = 0, .height = 476, .width = 635}));
}

TEST(IouCropWindowTest, HasACentreOfABoxAndAShapeWithinBounds) {
  int windows = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    SampleRandom sizes({.seed = 3, .position = i}, RandomStream::kMadeData);
    const ImageSize source(1 + static_cast<int>(sizes.Below(300)),
                           1 + static_cast<int>(sizes.Below(300)));
    const auto x = static_cast<float>(source.width) * sizes.Real();
    const auto y = static_cast<float>(source.height) * sizes.Real();
    SampleRandom random({.position = i}, RandomStream::kCrop);
    const Window window = IouCropWindow(
        source, Boxes{x - 0.5F, y - 0.5F, x + 0.5F, y + 0.5F}, random);
    ASSERT_TRUE(IsInside(window, source));
    if (window.height == source.height && window.width == source.width) {
      continue;
    }
    ++windows;
    ASSERT_LE(window.height, 2 * window.width);
    ASSERT_LE(window.width, 2 * window.height);
    ASSERT_LE(window.x, x + 0.5F);
    ASSERT_GE(window.x + window.width, x - 0.5F);
    ASSERT_LE(window.y, y + 0.5F);
    ASSERT_GE(window.y + window.height, y - 0.5F);
  }
  EXPECT_GT(windows, 300);
}

// What a recipe asks for boxes, and where the window is then.
struct Filled {
  std::vector<ImageSize> asked;
  std::vector<Geometry> geometry;
};

Filled Fill(const PreprocessOptions& options, bool training) {
  Filled filled;
  Preprocessor preprocessor(options, training);
  std::vector<std::uint32_t> pixels(options.image_size.pixels());
  const RgbImage image = TestPhotograph(90, 70, 1);
  const std::array<float, 4> box = {30, 20, 60, 60};
  for (std::uint64_t position = 0; position < 20; ++position) {
    filled.geometry.push_back(
        preprocessor
            .Fill(AsBytes(EncodePng(image.view())), {.position = position},
                  pixels, {}, nullptr,
                  [&](const ImageSize& source) -> std::span<const float> {
                    filled.asked.push_back(source);
                    return box;
                  })
            .geometry);
  }
  return filled;
}

TEST(IouCropTest, TrainingAsksOnceForTheBoxesOfTheSource) {
  for (const Recipe recipe : {Recipe::kPlain, Recipe::kFit}) {
    PreprocessOptions options = {
        .recipe = recipe, .crop = {.iou_crop = true}, .image_size = 24};
    const Filled filled = Fill(options, true);
    EXPECT_EQ(filled.asked, std::vector<ImageSize>(20, {70, 90}));
    int cut = 0;
    int mirrored = 0;
    for (const Geometry& geometry : filled.geometry) {
      cut += geometry.window != Window{0, 0, 70, 90} ? 1 : 0;
      mirrored += geometry.is_mirrored ? 1 : 0;
    }
    EXPECT_GT(cut, 4);
    EXPECT_GT(mirrored, 2);
    EXPECT_LT(mirrored, 18);
    EXPECT_EQ(Fill(options, false).asked.size(), 0U);
    options.crop.iou_crop = false;
    EXPECT_EQ(Fill(options, true).asked.size(), 0U);
  }
}

}  // namespace infeed::iou_crop_test
