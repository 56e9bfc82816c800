#include "preprocess/resize/antialias.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/resize/resize.h"
#include "tests/support/matchers.h"
#include "tests/support/test_jpeg.h"

namespace infeed {
namespace {

std::vector<std::int32_t> Weights(AntialiasAxis& axis, int out_index) {
  const AntialiasTaps taps = axis.At(out_index);
  return {taps.weights.begin(), taps.weights.end()};
}

TEST(AntialiasAxisTest, WeighsByATriangleOfTheScalesWidth) {
  constexpr int kOne = 1 << kAntialiasBits;
  AntialiasAxis axis(ResizeKernel::kAntialias, 8, 4);
  EXPECT_EQ(axis.At(1).first, 1);
  // Distances of 3/4, 1/4, 1/4 and 3/4 of the triangle's half.
  EXPECT_THAT(Weights(axis, 1), ElementsAreArray({kOne / 8, 3 * kOne / 8,
                                                  3 * kOne / 8, kOne / 8}));
  EXPECT_EQ(axis.At(0).first, 0);
  EXPECT_THAT(Weights(axis, 0),
              ElementsAreArray({1797559, 1797559, 599186}));  // 3, 3, 1 of 7
}

TEST(AntialiasAxisTest, InterpolatesWhereTheImageGetsLarger) {
  constexpr int kOne = 1 << kAntialiasBits;
  AntialiasAxis axis(ResizeKernel::kAntialias, 4, 8);
  EXPECT_THAT(Weights(axis, 3), ElementsAreArray({kOne / 4 * 3, kOne / 4}));
  EXPECT_THAT(Weights(axis, 0), ElementsAreArray({kOne}));
}

// Keys' cubic at distances of 7/4, 5/4, 3/4 and 1/4 and the same again.
TEST(AntialiasAxisTest, WeighsByACubicOfTwiceTheScalesWidth) {
  constexpr int kPart = (1 << kAntialiasBits) / 256;
  AntialiasAxis axis(ResizeKernel::kAntialiasBicubic, 16, 8);
  EXPECT_EQ(axis.At(3).first, 3);
  EXPECT_THAT(
      Weights(axis, 3),
      ElementsAreArray({-3 * kPart, -9 * kPart, 29 * kPart, 111 * kPart,
                        111 * kPart, 29 * kPart, -9 * kPart, -3 * kPart}));
}

class AntialiasRulesTest : public testing::TestWithParam<ResizeKernel> {};

TEST_P(AntialiasRulesTest, StaysInsideAndSumsToNearlyOne) {
  SampleRandom random({}, RandomStream::kMadeData);
  for (int i = 0; i < 200; ++i) {
    const int in_size = 1 + static_cast<int>(random.Below(3000));
    const int out_size = 1 + static_cast<int>(random.Below(300));
    AntialiasAxis axis(GetParam(), in_size, out_size);
    for (int out_index = 0; out_index < out_size; ++out_index) {
      const AntialiasTaps taps = axis.At(out_index);
      const int count = static_cast<int>(taps.weights.size());
      ASSERT_GT(count, 0);
      ASSERT_LE(count, axis.max_taps());
      ASSERT_GE(taps.first, 0);
      ASSERT_LE(taps.first + count, in_size);
      const std::int32_t sum =
          std::accumulate(taps.weights.begin(), taps.weights.end(), 0);
      ASSERT_LE(std::abs(sum - (1 << kAntialiasBits)), count);
      std::int64_t amounts = 0;
      for (const std::int32_t weight : taps.weights) {
        amounts += std::abs(weight);
        ASSERT_TRUE(weight >= 0 || GetParam() != ResizeKernel::kAntialias);
        ASSERT_GE(LowPart(weight), 0);
        ASSERT_EQ(weight, HighPart(weight) * (1 << kAntialiasLowBits) +
                              LowPart(weight));
      }
      ASSERT_LT(amounts, 3 << (kAntialiasBits - 1));
    }
  }
}

TEST_P(AntialiasRulesTest, KeepsAnImageOfTheSameSize) {
  const RgbImage image = TestPhotograph(50, 40, 1);
  std::vector<std::uint32_t> packed(2000);
  PackImage(image.view(), false, packed);
  std::vector<std::uint32_t> resized(2000);
  Resize(GetParam(), image.view(), 50, 40, resized);
  EXPECT_EQ(resized, packed);
}

// The weights of more than 16,448 samples may sum to a level too much.
TEST_P(AntialiasRulesTest, KeepsFlatAreasFlat) {
  RgbImage image;
  image.Resize(60000, 2);
  for (const int level : {0, 1, 127, 254, 255}) {
    std::fill(image.pixels().begin(), image.pixels().end(), level);
    for (const int width : {1, 3, 1000}) {
      std::vector<std::uint32_t> pixels(width);
      Resize(GetParam(), image.view(), width, 1, pixels);
      for (const std::uint32_t pixel : pixels) {
        ASSERT_EQ(pixel, PackPixel(level, level, level));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, AntialiasRulesTest,
                         testing::Values(ResizeKernel::kAntialias,
                                         ResizeKernel::kAntialiasBicubic));

}  // namespace
}  // namespace infeed
