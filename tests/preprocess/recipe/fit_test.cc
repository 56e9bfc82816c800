#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "preprocess/codecs/png_codec.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/recipe/framing.h"
#include "preprocess/recipe/geometry.h"
#include "preprocess/recipe/recipe.h"
#include "tests/support/bytes.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::fit_test {

Framing Fitted(int height, int width, const ImageSize& output = 640,
               FitMargin margin = FitMargin::kMiddle) {
  return FitWindow({0, 0, height, width}, output, margin);
}

// Ultralytics' LetterBox: sizes, and where the image begins.
TEST(FitWindowTest, IsUltralyticsLetterBox) {
  const auto expect = [](int height, int width, const ImageSize& resized,
                         int top, int left) {
    const Framing framing = Fitted(height, width);
    EXPECT_EQ(framing.window, (Window{0, 0, height, width}));
    const Geometry geometry = GeometryOf(framing, {height, width});
    EXPECT_EQ(geometry.resized, resized);
    EXPECT_EQ(-geometry.y, top);
    EXPECT_EQ(-geometry.x, left);
  };
  expect(480, 640, {480, 640}, 80, 0);
  expect(333, 500, {426, 640}, 107, 0);
  expect(1080, 810, {640, 480}, 0, 80);
  expect(100, 640, {100, 640}, 270, 0);
  expect(101, 640, {101, 640}, 269, 0);  // 270 below
  expect(1, 5000, {1, 640}, 319, 0);
  expect(64, 64, {640, 640}, 0, 0);
}

TEST(FitWindowTest, MarginsAreInTheMiddleOrAtTheEnd) {
  const ImageSize output(30, 50);
  const auto place = [&](FitMargin margin) {
    return GeometryOf(Fitted(10, 10, output, margin), 10);
  };
  EXPECT_EQ(place(FitMargin::kMiddle).x, -10);
  EXPECT_EQ(place(FitMargin::kEnd).x, 0);
  EXPECT_EQ(place(FitMargin::kEnd).resized, 30);
}

// The given numbers, in order.
class Replay final : public RandomSource {
 public:
  explicit Replay(std::vector<float> reals) : reals_(std::move(reals)) {}
  std::uint32_t Below(std::uint32_t) override { return 0; }
  float Real() override { return reals_.at(next_++); }
  [[nodiscard]] bool is_at_end() const { return next_ == reals_.size(); }

 private:
  std::vector<float> reals_;
  std::size_t next_ = 0;
};

constexpr FitOptions kLargeScale = {.scale_min = 0.1, .scale_max = 2};

TEST(JitterScaleTest, ImagesThatFitAreAtTheUpperLeft) {
  Replay random({0.3F});
  const Framing framing =
      JitterScale({0, 0, 480, 640}, 1024, kLargeScale, random);
  EXPECT_EQ(framing.height, 514);
  EXPECT_EQ(framing.width, 686);
  const Geometry geometry = GeometryOf(framing, {480, 640});
  EXPECT_EQ(geometry.y, 0);
  EXPECT_EQ(geometry.x, 0);
  EXPECT_TRUE(random.is_at_end());
}

// 1.905 * 1.6 of 480 x 640; only the width is too large.
TEST(JitterScaleTest, LargerImagesAreCutByOneDraw) {
  Replay random({0.95F, 0.5F});
  const Framing framing =
      JitterScale({0, 0, 480, 640}, {1536, 1024}, kLargeScale, random);
  EXPECT_EQ(framing.height, 1463);
  EXPECT_EQ(framing.width, 1950);
  EXPECT_EQ(framing.y, 0);
  EXPECT_EQ(framing.x, 463);
  EXPECT_TRUE(random.is_at_end());
}

std::vector<std::uint32_t> Filled(const PreprocessOptions& options,
                                  bool training, const SampleKey& key = {}) {
  RgbImage image;
  image.Resize(40, 20);
  std::ranges::fill(image.pixels(), std::uint8_t{200});
  Preprocessor preprocessor(options, training);
  std::vector<std::uint32_t> pixels(options.image_size.pixels());
  preprocessor.Fill(AsBytes(EncodePng(image.view())), key, pixels);
  return pixels;
}

constexpr std::uint32_t kImage = PackPixel(200, 200, 200);

// An image of 10 x 20 in 20 x 20 pixels.
TEST(FitRecipeTest, MarginsHaveTheFillInTrainingAndEvaluation) {
  for (const bool training : {false, true}) {
    for (const int fill : {0, 114, 255}) {
      const std::vector<std::uint32_t> pixels = Filled(
          {.recipe = Recipe::kFit, .fit = {.fill = fill}, .image_size = 20},
          training);
      const auto level = static_cast<std::uint32_t>(fill);
      const std::span rows(pixels);
      EXPECT_THAT(rows.first(100), Each(PackPixel(level, level, level)));
      EXPECT_THAT(rows.subspan(100, 200), Each(kImage));
      EXPECT_THAT(rows.last(100), Each(PackPixel(level, level, level)));
    }
  }
}

TEST(FitRecipeTest, MarginsAtTheEndAreBelow) {
  const std::vector<std::uint32_t> pixels =
      Filled({.recipe = Recipe::kFit,
              .fit = {.margin = FitMargin::kEnd},
              .image_size = 20},
             false);
  const std::span rows(pixels);
  EXPECT_THAT(rows.first(200), Each(kImage));
  EXPECT_THAT(rows.last(200), Each(PackPixel(114, 114, 114)));
}

// A mirrored image is at the right.
TEST(FitRecipeTest, MirroredImagesHaveTheirMarginAtTheLeft) {
  const PreprocessOptions options = {.recipe = Recipe::kFit,
                                     .fit = {.margin = FitMargin::kEnd},
                                     .image_size = {20, 60}};
  int mirrored = 0;
  for (std::uint64_t position = 0; position < 20; ++position) {
    const SampleKey key = {.position = position};
    const std::vector<std::uint32_t> pixels = Filled(options, true, key);
    const bool is_mirrored = IsFlipped(options, true, key);
    mirrored += is_mirrored ? 1 : 0;
    EXPECT_EQ(pixels.front() == kImage, !is_mirrored);
    EXPECT_EQ(pixels[59] == kImage, is_mirrored);
  }
  EXPECT_GT(mirrored, 0);
  EXPECT_LT(mirrored, 20);
}

TEST(FitRecipeTest, ScaleJitterIsOfTrainingOnly) {
  const PreprocessOptions options = {
      .recipe = Recipe::kFit,
      .fit = {.scale_min = 0.2, .scale_max = 0.4},
      .image_size = 20};
  const std::vector<std::uint32_t> training = Filled(options, true);
  EXPECT_LE(std::ranges::count(training, kImage), 4 * 8);
  const std::vector<std::uint32_t> evaluation = Filled(options, false);
  EXPECT_EQ(std::ranges::count(evaluation, kImage), 10 * 20);
}

TEST(FitOptionsTest, RefusesWhatTheRecipeDoesNotHave) {
  const auto refusal = [](const FitOptions& fit, Recipe recipe) {
    return MessageOf<UsageError>([&] { CheckFitOptions(fit, recipe); });
  };
  EXPECT_EQ(refusal({}, Recipe::kTpu), "");
  EXPECT_EQ(refusal(kLargeScale, Recipe::kFit), "");
  EXPECT_THAT(refusal({.fill = 0}, Recipe::kPlain),
              HasSubstr("fit_fill: needs recipe=fit"));
  EXPECT_THAT(refusal({.margin = FitMargin::kEnd}, Recipe::kCifar),
              HasSubstr("fit_margin: needs recipe=fit"));
  EXPECT_THAT(refusal(kLargeScale, Recipe::kTorchvision),
              HasSubstr("scale_jitter_min: needs recipe=fit"));
  for (const FitOptions& fit :
       {FitOptions{.scale_min = 0.5}, FitOptions{.scale_max = 2},
        FitOptions{.scale_min = 2, .scale_max = 1}}) {
    EXPECT_THAT(refusal(fit, Recipe::kFit), HasSubstr("give both"));
  }
  EXPECT_THAT(refusal({.fill = 256}, Recipe::kFit), HasSubstr("fit_fill=256"));
}

}  // namespace infeed::fit_test
