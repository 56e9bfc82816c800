#pragma once

#include <algorithm>
#include <cstdint>

// The arithmetic of batch norm's kernels (norm.h); the CPU computes the same
// bits.
namespace infeed {

// Images in channels_last order: a row for each of N * H * W pixels.
struct NormShape {
  std::int64_t rows = 0;
  int channels = 0;
};

// How blocks of threads share the work: each gets `columns` vectors of channels
// and a split of the rows. Depends only on the shape, so that sums have the
// same order on every card.
struct NormTiling {
  int columns = 1;  // threads side by side; a power of two
  int column_tiles = 1;
  int splits = 1;  // each of split_rows, the last one of the rest
  std::int64_t split_rows = 1;
};

// vector: channels for each thread. Requires: shape.channels is a multiple of
// it.
[[nodiscard]] constexpr NormTiling TilingOf(const NormShape& shape,
                                            int vector) {
  constexpr int kMostColumns = 32;  // 512 bytes in a row
  constexpr int kBlocks = 512;      // approximately the number that runs at
                                    // once
  constexpr std::int64_t kLeastRows = 64;
  const int vectors = shape.channels / vector;
  NormTiling tiling;
  while (tiling.columns < std::min(vectors, kMostColumns)) {
    tiling.columns *= 2;
  }
  tiling.column_tiles = (vectors + tiling.columns - 1) / tiling.columns;
  const std::int64_t splits = std::max(1, kBlocks / tiling.column_tiles);
  tiling.split_rows = std::max(kLeastRows, (shape.rows + splits - 1) / splits);
  tiling.splits = static_cast<int>((shape.rows + tiling.split_rows - 1) /
                                   tiling.split_rows);
  return tiling;
}

[[nodiscard]] constexpr std::int64_t RowsOfSplit(const NormShape& shape,
                                                 const NormTiling& tiling,
                                                 int split) {
  return std::min(tiling.split_rows, shape.rows - split * tiling.split_rows);
}

// A split's mean, and its sum of squared differences from the mean.
struct SplitMoments {
  float mean = 0;
  float squares = 0;
};

// The moments from the sums of (x - shift) and of its square. If shift is a
// value of the split, no precision is lost for a mean far from 0.
[[nodiscard]] constexpr SplitMoments MomentsOf(float shift, float sum,
                                               float squares, float count) {
  const float offset = sum / count;
  return {.mean = shift + offset,
          .squares = std::max(0.0F, squares - offset * sum)};
}

// Moments of many splits, added up.
struct ChannelSums {
  double sum = 0;
  double squares = 0;
};

constexpr void AddSplit(const SplitMoments& moments, double count,
                        ChannelSums& sums) {
  const double mean = moments.mean;
  sums.sum += count * mean;
  sums.squares += moments.squares + count * (mean * mean);
}

struct ChannelMoments {
  double mean = 0;
  double variance = 0;       // of these values, by count
  double next_variance = 0;  // unbiased: by count - 1
};

[[nodiscard]] constexpr ChannelMoments MomentsOf(const ChannelSums& sums,
                                                 double count) {
  const double mean = sums.sum / count;
  const double squares = std::max(0.0, sums.squares - sums.sum * mean);
  return {.mean = mean,
          .variance = squares / count,
          .next_variance = squares / std::max(1.0, count - 1)};
}

[[nodiscard]] constexpr float Moved(float moving, double value,
                                    float momentum) {
  return (1 - momentum) * moving + momentum * static_cast<float>(value);
}

// The mean, the scale and the bias of one channel.
struct NormFactors {
  float mean = 0;
  float scale = 0;  // weight / standard deviation
  float bias = 0;
};

[[nodiscard]] constexpr float NormOf(float x, const NormFactors& factors) {
  return (x - factors.mean) * factors.scale + factors.bias;
}

// ReluOf() and ReluGradient() propagate NaN.
[[nodiscard]] constexpr float ReluOf(float value) {
  return value < 0 ? 0 : value;
}
[[nodiscard]] constexpr float ReluGradient(float gradient, float y) {
  return y <= 0 ? 0 : gradient;
}

// The factors of one channel's gradient; g is the gradient of the norm's
// output.
struct NormGradientFactors {
  float mean = 0;
  float scale = 0;
  float g_mean = 0;
  float slope = 0;  // mean of g * (x - mean) / variance
};

[[nodiscard]] constexpr float NormGradient(float g, float x,
                                           const NormGradientFactors& factors) {
  return factors.scale *
         ((g - factors.g_mean) - (x - factors.mean) * factors.slope);
}

}  // namespace infeed
