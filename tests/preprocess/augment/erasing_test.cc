#include "preprocess/augment/erasing.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/print_window.h"

// Goldens are torchvision's; tests/data/README.augment.md says how.
namespace infeed {
namespace {

// The draws of another program: reals, then a window's first pixel.
class GivenDraws final : public RandomSource {
 public:
  GivenDraws(std::vector<float> reals, const Window& window)
      : reals_(std::move(reals)), window_(window) {}

  float Real() override { return reals_.at(used_++); }
  std::uint32_t Below(std::uint32_t n) override {
    const int start = is_x_ ? window_.x : window_.y;
    is_x_ = true;
    EXPECT_LT(start, static_cast<int>(n));
    return static_cast<std::uint32_t>(start);
  }
  [[nodiscard]] bool is_used_up() const { return used_ == reals_.size(); }

 private:
  std::vector<float> reals_;
  Window window_;
  std::size_t used_ = 0;
  bool is_x_ = false;
};

TEST(DrawErasingTest, ChoosesTorchvisionsWindows) {
  std::ifstream file(INFEED_TEST_DATA "/erasing_goldens.txt");
  std::string versions;
  std::getline(file, versions);
  int windows = 0;
  int side = 0;
  std::size_t count = 0;
  for (Window golden; file >> side >> golden.y >> golden.x >> golden.height >>
                      golden.width >> count;) {
    std::vector<float> reals = {0};  // Below any probability.
    for (std::int32_t real = 0; reals.size() <= count && file >> real;) {
      reals.push_back(static_cast<float>(real) * 0x1p-24F);
    }
    GivenDraws draws(reals, golden);
    EXPECT_EQ(DrawErasing(0.5F, side, draws), golden);
    EXPECT_TRUE(draws.is_used_up());
    ++windows;
  }
  EXPECT_EQ(windows, 160);
}

TEST(DrawErasingTest, GivesUpAfterTenWindowsThatAreTooLarge) {
  constexpr float kMost = 1 - 0x1p-24F;
  std::vector<float> reals(21, kMost);
  reals[0] = 0;
  GivenDraws draws(reals, {});
  EXPECT_EQ(DrawErasing(0.5F, 224, draws), std::nullopt);
  EXPECT_TRUE(draws.is_used_up());
}

SampleRandom DrawsOf(std::uint64_t position) {
  return SampleRandom({.position = position}, RandomStream::kAugmentation);
}

TEST(DrawErasingTest, HasItsProbability) {
  constexpr int kImages = 2000;
  const auto share = [](float probability) {
    int erased = 0;
    for (std::uint64_t i = 0; i < kImages; ++i) {
      SampleRandom random = DrawsOf(i);
      erased += DrawErasing(probability, 224, random).has_value() ? 1 : 0;
    }
    return static_cast<double>(erased) / kImages;
  };
  EXPECT_EQ(share(0), 0);
  EXPECT_EQ(share(1), 1);
  EXPECT_NEAR(share(0.3F), 0.3, 0.05);  // Nearly five deviations.
}

TEST(DrawErasingTest, ErasesWithinTheImageAndItsRanges) {
  constexpr int kImages = 2000;
  for (const ImageSize size : {ImageSize(224), ImageSize(40, 200)}) {
    double area = 0;
    double ratio = 0;
    for (std::uint64_t i = 0; i < kImages; ++i) {
      SampleRandom random = DrawsOf(i);
      const Window window =
          DrawErasing(1, size, random).value_or(Window{0, 0, 20, 20});
      ASSERT_TRUE(IsInside(window, size));
      const double part = 1.0 * window.height * window.width /
                          static_cast<double>(size.pixels());
      ASSERT_GE(part, 0.019);
      ASSERT_LE(part, 0.335);
      area += part;
      ratio += std::log(1.0 * window.height / window.width);
    }
    // Of a square few windows are refused as too large: the means hardly move.
    if (size.is_square()) {
      EXPECT_NEAR(area / kImages, 0.175, 0.01);
      EXPECT_NEAR(ratio / kImages, 0, 0.06);
    }
  }
}

// The mean and the deviation of timm's noise, which is clipped as well.
TEST(FillWithNoiseTest, HasImageNetsStatistics) {
  constexpr int kSide = 200;
  std::vector<std::uint32_t> pixels(kSide * kSide, 0xFFFFFF00U);
  SampleRandom random({.seed = 3}, RandomStream::kAugmentation);
  FillWithNoise({.y = 0, .x = 0, .height = kSide, .width = kSide},
                {pixels, kSide}, random);
  const double means[] = {123.675, 116.28, 103.53};
  const double deviations[] = {58.395, 57.12, 57.375};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    double sum = 0;
    double squares = 0;
    for (const std::uint32_t pixel : pixels) {
      const double level = Level(pixel, kChannelShifts[channel]);
      sum += level;
      squares += level * level;
    }
    const double mean = sum / kSide / kSide;
    EXPECT_NEAR(mean, means[channel], 2);
    EXPECT_NEAR(std::sqrt(squares / kSide / kSide - mean * mean),
                deviations[channel], 3);
  }
}

}  // namespace
}  // namespace infeed
