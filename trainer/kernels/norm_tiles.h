#pragma once

// For batch norm's kernels only: each thread's part of [rows, channels], and
// sums over the threads and blocks that share a channel.

#include <cstdint>

#include "trainer/kernels/norm_math.h"
#include "trainer/kernels/vectors.h"

namespace infeed {

// A thread works on one vector of channels, in every `step`-th row.
struct NormLane {
  bool active = false;  // whether these channels exist
  bool is_first = false;
  int channel = 0;
  std::int64_t split_first = 0;
  std::int64_t row = 0;
  std::int64_t end = 0;
  int step = 1;
};

__device__ inline NormLane LaneOf(const NormShape& shape,
                                  const NormTiling& tiling, int vector) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int column = thread % tiling.columns;
  NormLane lane;
  lane.channel =
      (static_cast<int>(blockIdx.x) * tiling.columns + column) * vector;
  lane.active = lane.channel < shape.channels;
  lane.is_first = lane.active && thread < tiling.columns;
  lane.split_first = blockIdx.y * tiling.split_rows;
  lane.row = lane.split_first + thread / tiling.columns;
  lane.end = lane.active ? min(shape.rows, lane.split_first + tiling.split_rows)
                         : lane.row;
  lane.step = kThreads / tiling.columns;
  return lane;
}

// Loads the values of a lane's channels. Requires: from is aligned to 16 bytes.
template <int kSize>
__device__ inline void LoadChannels(const float* from, float (&to)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; i += Vector<float>::kSize) {
    const Vector<float> four = LoadVector(from + i);
#pragma unroll
    for (int k = 0; k < Vector<float>::kSize; ++k) {
      to[i + k] = four.at[k];
    }
  }
}

// weight / standard deviation.
template <int kSize>
__device__ inline void LoadScales(const float* weight, const float* inverse_std,
                                  float (&to)[kSize]) {
  float inverse[kSize];
  LoadChannels(weight, to);
  LoadChannels(inverse_std, inverse);
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    to[i] *= inverse[i];
  }
}

// The factors of a lane's channels.
template <int kSize>
struct NormFactorsOf {
  NormFactorsOf() = default;
  __device__ NormFactorsOf(const float* mean, const float* inverse_std,
                           const float* weight, const float* bias,
                           int channel) {
    LoadChannels(mean + channel, means);
    LoadScales(weight + channel, inverse_std + channel, scales);
    LoadChannels(bias + channel, biases);
  }
  [[nodiscard]] __device__ NormFactors Of(int i) const {
    return {.mean = means[i], .scale = scales[i], .bias = biases[i]};
  }

  float means[kSize];
  float scales[kSize];
  float biases[kSize];
};

// Adds up the values of threads that are `columns` apart; the first `columns`
// threads get the sums. All threads of the block must call it, once.
template <typename Number, int kValues>
__device__ void SumOfLanes(Number (&values)[kValues], int columns) {
  __shared__ Number shared[kValues][kThreads];
  const auto thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    shared[i][thread] = values[i];
  }
  for (int half = kThreads / 2; half >= columns; half /= 2) {
    __syncthreads();
    if (thread < half) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) {
        values[i] += shared[i][thread + half];
        shared[i][thread] = values[i];
      }
    }
  }
}

// Channels for each block, in the kernels that add up the splits.
constexpr int kSplitColumns = 8;

// Writes a split's two numbers for each channel of a vector to partials:
// [splits, 2, channels].
template <int kSize>
__device__ void WriteSplit(const float (&first)[kSize],
                           const float (&second)[kSize], const NormShape& shape,
                           const NormLane& lane, float* partials) {
  float* const to =
      partials + std::int64_t{2} * blockIdx.y * shape.channels + lane.channel;
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    to[i] = first[i];
    to[shape.channels + i] = second[i];
  }
}

// Calls add(split, first, second, sums) for each split of a channel and adds
// the sums up, for the first kSplitColumns threads. Returns the channel.
template <typename Add>
__device__ int SumOfSplits(const NormShape& shape, int splits,
                           const float* partials, double (&sums)[2],
                           const Add& add) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int channel =
      static_cast<int>(blockIdx.x) * kSplitColumns + thread % kSplitColumns;
  for (int split = thread / kSplitColumns; split < splits;
       split += kThreads / kSplitColumns) {
    const float* const from =
        partials + std::int64_t{2} * split * shape.channels + channel;
    add(split, from[0], from[shape.channels], sums);
  }
  SumOfLanes(sums, kSplitColumns);
  return channel;
}

inline dim3 GridOf(const NormTiling& tiling) {
  return {static_cast<unsigned>(tiling.column_tiles),
          static_cast<unsigned>(tiling.splits)};
}

inline unsigned SplitBlocks(const NormShape& shape) {
  return static_cast<unsigned>(shape.channels / kSplitColumns);
}

}  // namespace infeed
