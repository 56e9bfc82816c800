// Compares the arithmetic of GPU kernels, on the CPU, with the trainer's own
// code.
#include "trainer/feed/pixel_math.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "preprocess/pixels/pack.h"
#include "trainer/kernels/norm_math.h"
#include "trainer/loop/batch.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(NormalizedTest, NormalizedHasTheBitsOfTheUnpacker) {
  Batch batch({.size = 1, .image_size = 16});
  for (std::uint32_t level = 0; level < 256; ++level) {
    batch.pixels()[level] = PackPixel(level, 255 - level, level * 7 % 256);
  }
  for (const auto& [kind, statistics] :
       {std::pair(Normalization::kUnit, kUnitStatistics),
        {Normalization::kImagenet, kImagenetStatistics}}) {
    const torch::Tensor images =
        BatchUnpacker(torch::kCPU, kind).Unpack(batch).images;
    for (int i = 0; i < 256; ++i) {
      for (int channel = 0; channel < 3; ++channel) {
        ASSERT_EQ(Normalized(batch.pixels()[static_cast<std::size_t>(i)],
                             channel, statistics),
                  images[0][channel][i / 16][i % 16].item<float>())
            << i << " " << channel;
      }
    }
  }
}

TEST(NormTilingTest, CoversEveryElementOnce) {
  for (const std::int64_t rows : {1, 2, 63, 64, 65, 12544, 802816}) {
    for (const int channels : {8, 64, 72, 256, 2048}) {
      const NormShape shape = {.rows = rows, .channels = channels};
      for (const int vector : {4, 8}) {
        const NormTiling tiling = TilingOf(shape, vector);
        EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(tiling.columns)));
        const int covered = tiling.columns * tiling.column_tiles * vector;
        EXPECT_GE(covered, channels);
        EXPECT_LT(covered - tiling.columns * vector, channels);
        std::int64_t split_rows = 0;
        for (int split = 0; split < tiling.splits; ++split) {
          EXPECT_GT(RowsOfSplit(shape, tiling, split), 0);
          split_rows += RowsOfSplit(shape, tiling, split);
        }
        EXPECT_EQ(split_rows, rows);
      }
    }
  }
}

// The moments as MomentsKernel and StatisticsKernel compute them, with one
// thread per split.
ChannelMoments MomentsBySplits(const std::vector<float>& x) {
  const NormShape shape = {.rows = std::ssize(x), .channels = 8};
  const NormTiling tiling = TilingOf(shape, 8);
  ChannelSums sums;
  for (int split = 0; split < tiling.splits; ++split) {
    const std::int64_t first = split * tiling.split_rows;
    const std::int64_t rows = RowsOfSplit(shape, tiling, split);
    const float shift = x[static_cast<std::size_t>(first)];
    float sum = 0;
    float squares = 0;
    for (std::int64_t i = first; i < first + rows; ++i) {
      const float shifted = x[static_cast<std::size_t>(i)] - shift;
      sum += shifted;
      squares += shifted * shifted;
    }
    AddSplit(MomentsOf(shift, sum, squares, static_cast<float>(rows)),
             static_cast<double>(rows), sums);
  }
  return MomentsOf(sums, static_cast<double>(shape.rows));
}

TEST(NormMomentsTest, MeansFarFromZeroLoseNoDigits) {
  for (const float offset : {0.0F, 3.0F, -1000.0F}) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal(offset, 0.5F);
    std::vector<float> x(50000);
    for (float& value : x) {
      value = normal(random);
    }
    const torch::Tensor exact = torch::tensor(x).to(torch::kDouble);
    const ChannelMoments moments = MomentsBySplits(x);
    const double variance = exact.var(/*unbiased=*/false).item<double>();
    EXPECT_NEAR(moments.mean, exact.mean().item<double>(),
                1e-7 * (1 + std::abs(offset)));
    EXPECT_NEAR(moments.variance, variance, 2e-6 * variance);
    EXPECT_NEAR(moments.next_variance, variance * 50000 / 49999,
                2e-6 * variance);
  }
}

TEST(NormMomentsTest, EqualValuesGiveExactMoments) {
  const ChannelMoments moments = MomentsBySplits(std::vector(1000, 0.1F));
  EXPECT_FLOAT_EQ(static_cast<float>(moments.mean), 0.1F);
  EXPECT_LT(moments.variance, 1e-12);
  EXPECT_EQ(MomentsBySplits({4.0F}).next_variance, 0);
}

}  // namespace
}  // namespace infeed
