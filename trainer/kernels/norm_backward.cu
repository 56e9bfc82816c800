#include "trainer/kernels/norm.h"
#include "trainer/kernels/norm_tiles.h"
#include "trainer/kernels/pool_windows.h"

namespace infeed {
namespace {

// __launch_bounds__(kThreads, 4): four blocks run at once on a multiprocessor,
// which leaves enough registers for each thread.

// How the gradient finds the places where the ReLU's output was 0: from x or
// from y; kNone: no ReLU. kPooled: no window of the pool took them.
enum class Relu { kNone, kFromX, kFromY, kPooled };

// The values of windows need more registers.
constexpr int BlocksAtOnce(Relu relu) { return relu == Relu::kPooled ? 3 : 4; }

// Two rows at once, unless their values do not fit into registers.
template <typename T>
constexpr int RowsAtOnce(bool has_more_values) {
  return has_more_values && Vector<T>::kSize == 8 ? 1 : 2;
}

// Masks g, the gradient of the ReLU's output, which was computed from x.
template <int kSize>
__device__ void MaskFromX(const float (&x)[kSize],
                          const NormFactorsOf<kSize>& factors,
                          float (&g)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    g[i] = ReluGradient(g[i], NormOf(x[i], factors.Of(i)));
  }
}

// The gradient of a pooled y, as a MaxPoolBackward would store it.
template <typename T>
__device__ Vector<T> PooledGradientAt(const NormBackward& norm,
                                      std::int64_t pixel, int channel) {
  constexpr int kSize = Vector<T>::kSize;
  const MaxPoolShape& shape = norm.pooled;
  const auto width = static_cast<unsigned>(shape.width);
  const auto height = static_cast<unsigned>(shape.height);
  const auto at = static_cast<unsigned>(pixel);
  const unsigned line = at / width;
  // From the start of the first windows, which may be beyond the edge.
  const unsigned image = line / height;
  const int row = static_cast<int>(line - image * height) + shape.top;
  const int column = static_cast<int>(at - line * width) + shape.left;
  Vector<T> sums{};
#pragma unroll
  for (int i = 0; i < kStride * kStride; ++i) {
    // The windows of two rows may cover the pixel, if its row is even.
    const PoolLane lane = {.image = static_cast<int>(image),
                           .row = (row + 1) / kStride - 1 + i / kStride,
                           .column = (column + 1) / kStride - 1 + i % kStride,
                           .channel = channel};
    const int place_row = row - kStride * lane.row;
    const int place_column = column - kStride * lane.column;
    if (place_row < 0 || place_column < 0) {
      continue;
    }
    PoolWindow<T, kSize> window;
    LoadWindow(shape, norm.gradient, norm.places, lane, window);
    AddWhere(window, kSide * place_row + place_column, sums.at);
  }
  return Rounded(sums);
}

// The gradient of y in a row; with kTwo the sum of two gradients.
template <typename T, Relu kRelu, bool kTwo>
__device__ Vector<T> GradientAt(const NormBackward& norm, std::int64_t row,
                                int channel) {
  if constexpr (kRelu == Relu::kPooled) {
    return PooledGradientAt<T>(norm, row, channel);
  }
  const std::int64_t at = row * norm.shape.channels + channel;
  Vector<T> g = LoadVector(static_cast<const T*>(norm.gradient) + at);
  if constexpr (kTwo) {
    const Vector<T> more =
        LoadVector(static_cast<const T*>(norm.more_gradient) + at);
#pragma unroll
    for (int i = 0; i < Vector<T>::kSize; ++i) {
      g.at[i] += more.at[i];
    }
    g = Rounded(g);
  }
  return g;
}

// Sums of g, the gradient of the norm's own output, and of g * (x - mean) for
// each split. With Relu::kFromY it also writes g, the residual's gradient.
template <typename T, Relu kRelu, bool kTwo>
__global__ void __launch_bounds__(kThreads, BlocksAtOnce(kRelu))
    GradientSumsKernel(NormBackward norm, NormTiling tiling) {
  constexpr int kSize = Vector<T>::kSize;
  const NormLane lane = LaneOf(norm.shape, tiling, kSize);
  [[maybe_unused]] NormFactorsOf<kSize> factors{};
  float means[kSize] = {};
  if (lane.active) {
    LoadChannels(norm.mean + lane.channel, means);
    if constexpr (kRelu == Relu::kFromX) {
      factors = NormFactorsOf<kSize>(norm.mean, norm.inverse_std, norm.weight,
                                     norm.bias, lane.channel);
    }
  }
  float sums[2 * kSize] = {};
  [[maybe_unused]] constexpr int kRowsAtOnce =
      RowsAtOnce<T>(kRelu == Relu::kFromX || kRelu == Relu::kPooled || kTwo);
#pragma unroll kRowsAtOnce
  for (std::int64_t row = lane.row; row < lane.end; row += lane.step) {
    const std::int64_t at = row * norm.shape.channels + lane.channel;
    const Vector<T> x = LoadVector(static_cast<const T*>(norm.x) + at);
    Vector<T> g = GradientAt<T, kRelu, kTwo>(norm, row, lane.channel);
    if constexpr (kRelu == Relu::kFromX) {
      MaskFromX(x.at, factors, g.at);
    }
    if constexpr (kRelu == Relu::kFromY) {
      const Vector<T> y = LoadVector(static_cast<const T*>(norm.y) + at);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        g.at[i] = ReluGradient(g.at[i], y.at[i]);
      }
      StoreVector(static_cast<T*>(norm.residual_gradient) + at, g);
    }
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      sums[i] += g.at[i];
      sums[kSize + i] += g.at[i] * (x.at[i] - means[i]);
    }
  }
  SumOfLanes(sums, tiling.columns);
  if (lane.is_first) {
    float first[kSize];
    float second[kSize];
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      first[i] = sums[i];
      second[i] = sums[kSize + i];
    }
    WriteSplit(first, second, norm.shape, lane, norm.workspace);
  }
}

// The offset of the channels' g_mean and slope, after the splits' sums.
__host__ __device__ std::int64_t FactorsAt(const NormShape& shape,
                                           const NormTiling& tiling) {
  return std::int64_t{2} * tiling.splits * shape.channels;
}

__global__ void __launch_bounds__(kThreads, 4)
    ParameterGradientsKernel(NormBackward norm, NormTiling tiling) {
  double sums[2] = {};
  const int channel = SumOfSplits(norm.shape, tiling.splits, norm.workspace,
                                  sums, [](int, float g, float gx, auto& to) {
                                    to[0] += g;
                                    to[1] += gx;
                                  });
  if (threadIdx.x >= kSplitColumns) {
    return;
  }
  const auto rows = static_cast<double>(norm.shape.rows);
  const double inverse_std = norm.inverse_std[channel];
  norm.bias_gradient[channel] = static_cast<float>(sums[0]);
  norm.weight_gradient[channel] = static_cast<float>(sums[1] * inverse_std);
  float* const factors = norm.workspace + FactorsAt(norm.shape, tiling);
  factors[channel] = static_cast<float>(sums[0] / rows);
  factors[norm.shape.channels + channel] =
      static_cast<float>(sums[1] * inverse_std * inverse_std / rows);
}

// What ParameterGradientsKernel would leave in the workspace.
template <int kSize>
__device__ void LoadKnownSums(const NormBackward& norm, int channel,
                              float (&g_means)[kSize], float (&slopes)[kSize]) {
  const float of_rows = 1.0F / static_cast<float>(norm.shape.rows);
  LoadChannels(norm.bias_gradient + channel, g_means);
  LoadScales(norm.weight_gradient + channel, norm.inverse_std + channel,
             slopes);
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    g_means[i] *= of_rows;
    slopes[i] *= of_rows;
  }
}

// kSumsKnown: they are in the gradients of weight and bias, not in workspace.
template <typename T, Relu kRelu, bool kSumsKnown>
__global__ void __launch_bounds__(kThreads, BlocksAtOnce(kRelu))
    InputGradientKernel(NormBackward norm, NormTiling tiling) {
  constexpr int kSize = Vector<T>::kSize;
  const NormLane lane = LaneOf(norm.shape, tiling, kSize);
  if (!lane.active) {
    return;
  }
  float means[kSize];
  float scales[kSize];
  float g_means[kSize];
  float slopes[kSize];
  LoadChannels(norm.mean + lane.channel, means);
  LoadScales(norm.weight + lane.channel, norm.inverse_std + lane.channel,
             scales);
  if constexpr (kSumsKnown) {
    LoadKnownSums(norm, lane.channel, g_means, slopes);
  } else {
    const float* const sums =
        norm.workspace + FactorsAt(norm.shape, tiling) + lane.channel;
    LoadChannels(sums, g_means);
    LoadChannels(sums + norm.shape.channels, slopes);
  }
  [[maybe_unused]] NormFactorsOf<kSize> factors;
  if constexpr (kRelu == Relu::kFromX) {
    factors = NormFactorsOf<kSize>(norm.mean, norm.inverse_std, norm.weight,
                                   norm.bias, lane.channel);
  }
  [[maybe_unused]] constexpr int kRowsAtOnce =
      RowsAtOnce<T>(kRelu == Relu::kFromX || kRelu == Relu::kPooled);
#pragma unroll kRowsAtOnce
  for (std::int64_t row = lane.row; row < lane.end; row += lane.step) {
    const std::int64_t at = row * norm.shape.channels + lane.channel;
    Vector<T> values = LoadVector(static_cast<const T*>(norm.x) + at);
    Vector<T> g = GradientAt<T, kRelu, false>(norm, row, lane.channel);
    if constexpr (kRelu == Relu::kFromX) {
      MaskFromX(values.at, factors, g.at);
    }
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      values.at[i] = NormGradient(g.at[i], values.at[i],
                                  {.mean = means[i],
                                   .scale = scales[i],
                                   .g_mean = g_means[i],
                                   .slope = slopes[i]});
    }
    StoreVector(static_cast<T*>(norm.x_gradient) + at, values);
  }
}

template <typename T, Relu kRelu, bool kTwo>
void Backward(const NormBackward& norm, cudaStream_t stream) {
  const NormTiling tiling = TilingOf(norm.shape, Vector<T>::kSize);
  const dim3 grid = GridOf(tiling);
  GradientSumsKernel<T, kRelu, kTwo>
      <<<grid, kThreads, 0, stream>>>(norm, tiling);
  CheckLaunch("GradientSumsKernel");
  ParameterGradientsKernel<<<SplitBlocks(norm.shape), kThreads, 0, stream>>>(
      norm, tiling);
  CheckLaunch("ParameterGradientsKernel");
  NormBackward last = norm;
  if (kRelu == Relu::kFromY) {
    last.gradient = norm.residual_gradient;  // Saves reading y.
  }
  const auto input = InputGradientKernel < T,
             kRelu == Relu::kFromY ? Relu::kNone : kRelu, false > ;
  input<<<grid, kThreads, 0, stream>>>(last, tiling);
  CheckLaunch("InputGradientKernel");
}

template <typename T>
void BackwardOfKnownSums(const NormBackward& norm, cudaStream_t stream) {
  const NormTiling tiling = TilingOf(norm.shape, Vector<T>::kSize);
  const auto input = InputGradientKernel<T, Relu::kNone, true>;
  input<<<GridOf(tiling), kThreads, 0, stream>>>(norm, tiling);
  CheckLaunch("InputGradientKernel");
}

template <typename T>
void Backward(const NormBackward& norm, cudaStream_t stream) {
  if (norm.sums_known) {
    BackwardOfKnownSums<T>(norm, stream);
  } else if (norm.places != nullptr) {
    Backward<T, Relu::kPooled, false>(norm, stream);
  } else if (!norm.relu) {
    Backward<T, Relu::kNone, false>(norm, stream);
  } else if (norm.y == nullptr) {
    Backward<T, Relu::kFromX, false>(norm, stream);
  } else if (norm.more_gradient == nullptr) {
    Backward<T, Relu::kFromY, false>(norm, stream);
  } else {
    Backward<T, Relu::kFromY, true>(norm, stream);
  }
}

}  // namespace

std::int64_t NormWorkspace(const NormShape& shape, ImageType type) {
  const NormTiling tiling =
      TilingOf(shape, type == ImageType::kFloat32 ? Vector<float>::kSize
                                                  : Vector<__half>::kSize);
  return FactorsAt(shape, tiling) + std::int64_t{2} * shape.channels;
}

void LaunchNormBackward(const NormBackward& norm, cudaStream_t stream) {
  WithElement(norm.type, [&]<typename T>(std::type_identity<T>) {
    Backward<T>(norm, stream);
  });
}

}  // namespace infeed
