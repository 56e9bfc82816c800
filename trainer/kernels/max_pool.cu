#include <cmath>

#include "trainer/kernels/max_pool.h"
#include "trainer/kernels/norm_math.h"
#include "trainer/kernels/norm_tiles.h"
#include "trainer/kernels/pool_windows.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

// Pixels of an image, each of `vectors` vectors of channels; a thread for each.
struct PoolGrid {
  unsigned rows = 1;
  unsigned columns = 1;
  unsigned vectors = 1;
  unsigned threads = 1;
};

PoolGrid GridOf(const MaxPoolShape& shape, int rows, int columns, int size) {
  PoolGrid grid = {.rows = static_cast<unsigned>(rows),
                   .columns = static_cast<unsigned>(columns),
                   .vectors = static_cast<unsigned>(shape.channels / size)};
  grid.threads = static_cast<unsigned>(shape.images) * grid.rows *
                 grid.columns * grid.vectors;
  return grid;
}

unsigned BlocksOf(const PoolGrid& grid) {
  return (grid.threads - 1) / kThreads + 1;
}

__device__ PoolLane LaneOf(const PoolGrid& grid, unsigned thread, int size) {
  const unsigned pixel = thread / grid.vectors;
  const unsigned line = pixel / grid.columns;
  return {.image = static_cast<int>(line / grid.rows),
          .row = static_cast<int>(line % grid.rows),
          .column = static_cast<int>(pixel % grid.columns),
          .channel = static_cast<int>(thread % grid.vectors) * size};
}

// Of a pixel [row, column] of the lane's image of the larger images; it may be
// outside.
__device__ std::int64_t OffsetOf(const MaxPoolShape& shape,
                                 const PoolLane& lane, int row, int column) {
  const std::int64_t line = std::int64_t{lane.image} * shape.height + row;
  return (line * shape.width + column) * shape.channels + lane.channel;
}

// ---- Forward: a thread for each window ----

// Channels for each thread, with a norm.
template <typename T>
constexpr int kNormSize = Vector<T>::kSize;

template <typename T, int kSize>
__device__ Values<T, kSize> ReluOfNorm(const Values<T, kSize>& x,
                                       const NormFactorsOf<kSize>& factors) {
  float y[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    y[i] = ReluOf(NormOf(ValueOf<T>(x, i), factors.Of(i)));
  }
  return ToValues<T>(y);
}

template <typename T, int kSize, bool kNorm>
__global__ void __launch_bounds__(kThreads, 4)
    MaxPoolKernel(MaxPoolForward pool, PoolGrid grid) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  if (thread >= grid.threads) {
    return;
  }
  const MaxPoolShape& shape = pool.shape;
  const PoolLane lane = LaneOf(grid, thread, kSize);
  const int first_row = kStride * lane.row - shape.top;
  const int first_column = kStride * lane.column - shape.left;
  const T* const x = static_cast<const T*>(pool.x) +
                     OffsetOf(shape, lane, first_row, first_column);
  [[maybe_unused]] NormFactorsOf<kSize> factors;
  if constexpr (kNorm) {
    factors =
        NormFactorsOf<kSize>(pool.norm.mean, pool.norm.inverse_std,
                             pool.norm.weight, pool.norm.bias, lane.channel);
  }
  float best[kSize];
  std::uint32_t places[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    // The first pixel, if nothing is greater.
    best[i] = -INFINITY;
    places[i] = (first_row < 0 ? kSide : 0) + (first_column < 0 ? 1 : 0);
  }
#pragma unroll
  for (int place = 0; place < kSide * kSide; ++place) {
    const int row = place / kSide;
    const int column = place % kSide;
    if (!IsIn(first_row + row, shape.height) ||
        !IsIn(first_column + column, shape.width)) {
      continue;
    }
    Values<T, kSize> values;
    Load(x + (std::int64_t{row} * shape.width + column) * shape.channels,
         values);
    if constexpr (kNorm) {
      values = ReluOfNorm<T>(values, factors);
    }
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float value = ValueOf<T>(values, i);
      if (value > best[i] || std::isnan(value)) {
        best[i] = value;
        places[i] = static_cast<std::uint32_t>(place);
      }
    }
  }
  if constexpr (kNorm) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      places[i] = best[i] <= 0 ? kNoPlace : places[i];
    }
  }
  const std::int64_t to = std::int64_t{thread} * kSize;
  Store(static_cast<T*>(pool.y) + to, ToValues<T>(best));
  Store(pool.places + to, ToPlaces(places));
}

// ---- Backward ----
// A thread for each window, and for those that would be above and left of the
// first ones where nothing is beyond the image's edge. It writes the window's
// middle pixel, the next one in its row, and the two below: besides the window
// itself only its next ones may have taken them.

// The gradient of a lane's channel i, of the pixel [row, column] of its four.
template <typename T, int kSize>
__device__ float GradientOf(
    const PoolWindow<T, kSize> (&windows)[kStride][kStride], int row,
    int column, int i) {
  float sum = 0;
#pragma unroll
  for (int below = 0; below <= row; ++below) {
#pragma unroll
    for (int right = 0; right <= column; ++right) {
      const PoolWindow<T, kSize>& window = windows[below][right];
      const int place =
          kSide * (1 + row - kStride * below) + 1 + column - kStride * right;
      if (IsPlace(window.places, i, static_cast<std::uint32_t>(place))) {
        sum += ValueOf<T>(window.gradients, i);
      }
    }
  }
  return sum;
}

template <typename T, int kSize>
__global__ void __launch_bounds__(kThreads, 4)
    MaxPoolGradientKernel(MaxPoolBackward pool, PoolGrid grid) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  if (thread >= grid.threads) {
    return;
  }
  const MaxPoolShape& shape = pool.shape;
  const PoolLane lane = LaneOf(grid, thread, kSize);
  const int window_row = lane.row - (1 - shape.top);
  const int window_column = lane.column - (1 - shape.left);
  PoolWindow<T, kSize> windows[kStride][kStride];
#pragma unroll
  for (int i = 0; i < kStride * kStride; ++i) {
    LoadWindow<T>(shape, pool.gradient, pool.places,
                  {.image = lane.image,
                   .row = window_row + i / kStride,
                   .column = window_column + i % kStride,
                   .channel = lane.channel},
                  windows[i / kStride][i % kStride]);
  }
  const int first_row = kStride * window_row - shape.top + 1;
  const int first_column = kStride * window_column - shape.left + 1;
  Values<T, kSize> gradients[kStride * kStride];
#pragma unroll
  for (int i = 0; i < kSize; i += kWordSize<T>) {
#pragma unroll
    for (int pixel = 0; pixel < kStride * kStride; ++pixel) {
      float two[2] = {};
#pragma unroll
      for (int k = 0; k < kWordSize<T> && i + k < kSize; ++k) {
        two[k] = GradientOf(windows, pixel / kStride, pixel % kStride, i + k);
      }
      gradients[pixel].at[i / kWordSize<T>] = ToWord<T>(two[0], two[1]);
    }
  }
#pragma unroll
  for (int pixel = 0; pixel < kStride * kStride; ++pixel) {
    const int row = first_row + pixel / kStride;
    const int column = first_column + pixel % kStride;
    if (IsIn(row, shape.height) && IsIn(column, shape.width)) {
      Store(
          static_cast<T*>(pool.x_gradient) + OffsetOf(shape, lane, row, column),
          gradients[pixel]);
    }
  }
}

// ---- Launches ----

template <typename T, int kSize, bool kNorm>
void Forward(const MaxPoolForward& pool, cudaStream_t stream) {
  const PoolGrid grid = GridOf(pool.shape, pool.shape.pooled_height(),
                               pool.shape.pooled_width(), kSize);
  const auto kernel = MaxPoolKernel<T, kSize, kNorm>;
  kernel<<<BlocksOf(grid), kThreads, 0, stream>>>(pool, grid);
  CheckLaunch("MaxPoolKernel");
}

template <typename T, int kSize>
void Backward(const MaxPoolBackward& pool, cudaStream_t stream) {
  const MaxPoolShape& shape = pool.shape;
  const PoolGrid grid = GridOf(shape, shape.pooled_height() + 1 - shape.top,
                               shape.pooled_width() + 1 - shape.left, kSize);
  const auto kernel = MaxPoolGradientKernel<T, kSize>;
  kernel<<<BlocksOf(grid), kThreads, 0, stream>>>(pool, grid);
  CheckLaunch("MaxPoolGradientKernel");
}

template <typename T>
bool TakesVectors(const MaxPoolShape& shape) {
  return shape.channels % Vector<T>::kSize == 0;
}

template <typename T>
void Launch(const MaxPoolForward& pool, cudaStream_t stream) {
  if (pool.norm.weight != nullptr) {
    Forward<T, kNormSize<T>, true>(pool, stream);
  } else if (TakesVectors<T>(pool.shape)) {
    Forward<T, Vector<T>::kSize, false>(pool, stream);
  } else {
    Forward<T, 1, false>(pool, stream);
  }
}

template <typename T>
void Launch(const MaxPoolBackward& pool, cudaStream_t stream) {
  TakesVectors<T>(pool.shape) ? Backward<T, Vector<T>::kSize>(pool, stream)
                              : Backward<T, 1>(pool, stream);
}

}  // namespace

void LaunchMaxPoolForward(const MaxPoolForward& pool, cudaStream_t stream) {
  WithElement(pool.type, [&]<typename T>(std::type_identity<T>) {
    Launch<T>(pool, stream);
  });
}

void LaunchMaxPoolBackward(const MaxPoolBackward& pool, cudaStream_t stream) {
  WithElement(pool.type, [&]<typename T>(std::type_identity<T>) {
    Launch<T>(pool, stream);
  });
}

}  // namespace infeed
