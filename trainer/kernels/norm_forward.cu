#include "trainer/kernels/norm.h"
#include "trainer/kernels/norm_tiles.h"

namespace infeed {
namespace {

// __launch_bounds__(kThreads, 4): four blocks run at once on a multiprocessor,
// which leaves enough registers for each thread.

// Computes the moments of each split.
template <typename T>
__global__ void __launch_bounds__(kThreads, 4)
    MomentsKernel(NormForward norm, NormTiling tiling) {
  constexpr int kSize = Vector<T>::kSize;
  const NormLane lane = LaneOf(norm.shape, tiling, kSize);
  const T* const x = static_cast<const T*>(norm.x) + lane.channel;
  float sums[2 * kSize] = {};
  Vector<T> shift{};
  if (lane.active) {
    shift = LoadVector(x + lane.split_first * norm.shape.channels);
  }
#pragma unroll 4
  for (std::int64_t row = lane.row; row < lane.end; row += lane.step) {
    const Vector<T> values = LoadVector(x + row * norm.shape.channels);
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float shifted = values.at[i] - shift.at[i];
      sums[i] += shifted;
      sums[kSize + i] += shifted * shifted;
    }
  }
  SumOfLanes(sums, tiling.columns);
  if (!lane.is_first) {
    return;
  }
  float means[kSize];
  float squares[kSize];
  const auto count = static_cast<float>(
      RowsOfSplit(norm.shape, tiling, static_cast<int>(blockIdx.y)));
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const SplitMoments moments =
        MomentsOf(shift.at[i], sums[i], sums[kSize + i], count);
    means[i] = moments.mean;
    squares[i] = moments.squares;
  }
  WriteSplit(means, squares, norm.shape, lane, norm.workspace);
}

// Stores a channel's scale and bias; the mean of norm(x) is then rounded once.
__device__ void StoreFolded(const NormForward& norm, int channel) {
  auto* const to = static_cast<__half*>(norm.folded) + channel;
  const float scale = norm.weight[channel] * norm.inverse_std[channel];
  const float rounded = PairOf<__half>(WordOf<__half>(scale, 0)).x;
  StoreOne(to, scale);
  StoreOne(to + norm.shape.channels,
           norm.bias[channel] - norm.mean[channel] * rounded);
}

// Stores a channel's statistics, and updates the moving ones.
__device__ void StoreStatistics(const NormForward& norm, int channel,
                                const ChannelSums& sums) {
  const ChannelMoments moments =
      MomentsOf(sums, static_cast<double>(norm.shape.rows));
  norm.mean[channel] = static_cast<float>(moments.mean);
  norm.inverse_std[channel] = static_cast<float>(
      1 / sqrt(moments.variance + static_cast<double>(norm.epsilon)));
  if (norm.moving_mean != nullptr) {
    norm.moving_mean[channel] =
        Moved(norm.moving_mean[channel], moments.mean, norm.momentum);
    norm.moving_variance[channel] = Moved(norm.moving_variance[channel],
                                          moments.next_variance, norm.momentum);
  }
  if (norm.folded != nullptr) {
    StoreFolded(norm, channel);
  }
}

// Computes each channel's moments from those of the splits.
__global__ void __launch_bounds__(kThreads, 4)
    StatisticsKernel(NormForward norm, NormTiling tiling) {
  double sums[2] = {};
  const int channel = SumOfSplits(
      norm.shape, tiling.splits, norm.workspace, sums,
      [&](int split, float mean, float squares, double(&to)[2]) {
        ChannelSums added;
        AddSplit({.mean = mean, .squares = squares},
                 static_cast<double>(RowsOfSplit(norm.shape, tiling, split)),
                 added);
        to[0] += added.sum;
        to[1] += added.squares;
      });
  if (threadIdx.x < kSplitColumns) {
    StoreStatistics(norm, channel, {.sum = sums[0], .squares = sums[1]});
  }
}

// Computes each channel's moments from sums about 0. A float32 sum of squares
// is known to 6e-8 of itself at best, so the variance to 6e-8 (1 + mean^2 /
// variance) of itself; that from the splits keeps 6e-8 for any mean. A
// difference below 0 is 0.
__global__ void __launch_bounds__(kThreads, 4) SumsKernel(NormForward norm) {
  const auto channel = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (channel < norm.shape.channels) {
    StoreStatistics(norm, channel,
                    {.sum = norm.sums[channel],
                     .squares = norm.sums[norm.shape.channels + channel]});
  }
}

void FindFromSums(const NormForward& norm, cudaStream_t stream) {
  const auto blocks =
      static_cast<unsigned>((norm.shape.channels + kThreads - 1) / kThreads);
  SumsKernel<<<blocks, kThreads, 0, stream>>>(norm);
  CheckLaunch("SumsKernel");
}

template <typename T>
void FindByPass(const NormForward& norm, const NormTiling& tiling,
                cudaStream_t stream) {
  MomentsKernel<T><<<GridOf(tiling), kThreads, 0, stream>>>(norm, tiling);
  CheckLaunch("MomentsKernel");
  StatisticsKernel<<<SplitBlocks(norm.shape), kThreads, 0, stream>>>(norm,
                                                                     tiling);
  CheckLaunch("StatisticsKernel");
}

enum class Residual { kNone, kPlain, kNormed };

// A residual norm's factors need more registers.
constexpr int BlocksAtOnce(Residual residual) {
  return residual == Residual::kNormed ? 2 : 4;
}

template <typename T, Residual kResidual, bool kRelu>
__global__ void __launch_bounds__(kThreads, BlocksAtOnce(kResidual))
    NormalizeKernel(NormForward norm, NormTiling tiling) {
  constexpr int kSize = Vector<T>::kSize;
  const NormLane lane = LaneOf(norm.shape, tiling, kSize);
  if (!lane.active) {
    return;
  }
  const NormFactorsOf<kSize> factors(norm.mean, norm.inverse_std, norm.weight,
                                     norm.bias, lane.channel);
  [[maybe_unused]] NormFactorsOf<kSize> residual_factors;
  if constexpr (kResidual == Residual::kNormed) {
    const ResidualNorm& of = norm.residual_norm;
    residual_factors = NormFactorsOf<kSize>(of.mean, of.inverse_std, of.weight,
                                            of.bias, lane.channel);
  }
#pragma unroll 2
  for (std::int64_t row = lane.row; row < lane.end; row += lane.step) {
    const std::int64_t at = row * norm.shape.channels + lane.channel;
    Vector<T> values = LoadVector(static_cast<const T*>(norm.x) + at);
    Vector<T> residual{};
    if constexpr (kResidual != Residual::kNone) {
      residual = LoadVector(static_cast<const T*>(norm.residual) + at);
    }
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      float y = NormOf(values.at[i], factors.Of(i));
      if constexpr (kResidual == Residual::kPlain) {
        y += residual.at[i];
      }
      if constexpr (kResidual == Residual::kNormed) {
        y += NormOf(residual.at[i], residual_factors.Of(i));
      }
      values.at[i] = kRelu ? ReluOf(y) : y;
    }
    StoreVector(static_cast<T*>(norm.y) + at, values);
  }
}

template <typename T, Residual kResidual>
void Normalize(const NormForward& norm, const NormTiling& tiling,
               cudaStream_t stream) {
  const auto kernel = norm.relu ? NormalizeKernel<T, kResidual, true>
                                : NormalizeKernel<T, kResidual, false>;
  kernel<<<GridOf(tiling), kThreads, 0, stream>>>(norm, tiling);
  CheckLaunch("NormalizeKernel");
}

template <typename T>
void Forward(const NormForward& norm, cudaStream_t stream) {
  const NormTiling tiling = TilingOf(norm.shape, Vector<T>::kSize);
  if (norm.sums != nullptr) {
    FindFromSums(norm, stream);
  } else {
    FindByPass<T>(norm, tiling, stream);
  }
  if (norm.y == nullptr) {
    return;
  }
  if (norm.residual == nullptr) {
    Normalize<T, Residual::kNone>(norm, tiling, stream);
  } else if (norm.residual_norm.weight == nullptr) {
    Normalize<T, Residual::kPlain>(norm, tiling, stream);
  } else {
    Normalize<T, Residual::kNormed>(norm, tiling, stream);
  }
}

}  // namespace

void LaunchNormForward(const NormForward& norm, cudaStream_t stream) {
  WithElement(norm.type, [&]<typename T>(std::type_identity<T>) {
    Forward<T>(norm, stream);
  });
}

}  // namespace infeed
