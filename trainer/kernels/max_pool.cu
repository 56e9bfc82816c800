#include <cmath>

#include "trainer/kernels/max_pool.h"
#include "trainer/kernels/vectors.h"

namespace infeed {
namespace {

constexpr int kSide = 3;  // of a window
constexpr int kStride = 2;

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

struct PoolLane {
  int image;
  int row;
  int column;
  int channel;
};

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

// Whether 0 <= at < size.
__device__ bool IsIn(int at, int size) {
  return static_cast<unsigned>(at) < static_cast<unsigned>(size);
}

// ---- kSize values of T, or as many places: a vector, or one ----

// As they are in memory, which takes fewer registers than floats.
template <int kBytes>
struct Words {
  std::uint32_t at[(kBytes + 3) / 4];
};

// Load() and Store() require: the address is aligned to kBytes.
template <int kBytes>
__device__ void Load(const void* from, Words<kBytes>& to) {
  if constexpr (kBytes == 16) {
    const uint4 bits = *static_cast<const uint4*>(from);
    to.at[0] = bits.x;
    to.at[1] = bits.y;
    to.at[2] = bits.z;
    to.at[3] = bits.w;
  } else if constexpr (kBytes == 8) {
    const uint2 bits = *static_cast<const uint2*>(from);
    to.at[0] = bits.x;
    to.at[1] = bits.y;
  } else if constexpr (kBytes == 4) {
    to.at[0] = *static_cast<const std::uint32_t*>(from);
  } else if constexpr (kBytes == 2) {
    to.at[0] = *static_cast<const std::uint16_t*>(from);
  } else {
    to.at[0] = *static_cast<const std::uint8_t*>(from);
  }
}

template <int kBytes>
__device__ void Store(void* to, const Words<kBytes>& words) {
  const std::uint32_t first = words.at[0];
  if constexpr (kBytes == 16) {
    *static_cast<uint4*>(to) = {first, words.at[1], words.at[2], words.at[3]};
  } else if constexpr (kBytes == 8) {
    *static_cast<uint2*>(to) = {first, words.at[1]};
  } else if constexpr (kBytes == 4) {
    *static_cast<std::uint32_t*>(to) = first;
  } else if constexpr (kBytes == 2) {
    *static_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(first);
  } else {
    *static_cast<std::uint8_t*>(to) = static_cast<std::uint8_t>(first);
  }
}

template <typename T, int kSize>
using Values = Words<kSize* static_cast<int>(sizeof(T))>;

template <typename T, int kBytes>
__device__ float ValueOf(const Words<kBytes>& values, int i) {
  if constexpr (sizeof(T) == 4) {
    return __uint_as_float(values.at[i]);
  }
  const std::uint32_t pair = values.at[i / 2];
  return __uint_as_float(i % 2 == 0 ? pair << 16 : pair & 0xFFFF0000U);
}

// Values in a word.
template <typename T>
constexpr int kWordSize = 4 / static_cast<int>(sizeof(T));

// Rounded to T; of float32 the first alone.
template <typename T>
__device__ std::uint32_t ToWord(float first, float second) {
  return sizeof(T) == 4 ? __float_as_uint(first) : Bfloat16Pair(first, second);
}

template <typename T, int kSize>
__device__ Values<T, kSize> ToValues(const float (&values)[kSize]) {
  Values<T, kSize> words;
#pragma unroll
  for (int i = 0; i < kSize; i += kWordSize<T>) {
    words.at[i / kWordSize<T>] =
        ToWord<T>(values[i], i + 1 < kSize ? values[i + 1] : 0);
  }
  return words;
}

template <int kSize>
__device__ bool IsPlace(const Words<kSize>& places, int i,
                        std::uint32_t place) {
  const int shift = i % 4 * 8;
  return ((places.at[i / 4] ^ place << shift) & 0xFFU << shift) == 0;
}

template <int kSize>
__device__ Words<kSize> ToPlaces(const std::uint32_t (&places)[kSize]) {
  Words<kSize> words{};
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    words.at[i / 4] |= places[i] << i % 4 * 8;
  }
  return words;
}

// ---- Forward: a thread for each window ----

template <typename T, int kSize>
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
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float value = ValueOf<T>(values, i);
      if (value > best[i] || std::isnan(value)) {
        best[i] = value;
        places[i] = static_cast<std::uint32_t>(place);
      }
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

template <typename T, int kSize>
struct PoolWindow {
  Values<T, kSize> gradients;
  Words<kSize> places;
};

template <typename T, int kSize>
__device__ void LoadWindow(const MaxPoolBackward& pool, const PoolLane& lane,
                           int row, int column, PoolWindow<T, kSize>& window) {
  const int height = pool.shape.pooled_height();
  const int width = pool.shape.pooled_width();
  if (!IsIn(row, height) || !IsIn(column, width)) {
    window = {};
    for (std::uint32_t& word : window.places.at) {
      word = 0xFFFFFFFFU;  // It took no pixel.
    }
    return;
  }
  const int at =
      ((lane.image * height + row) * width + column) * pool.shape.channels +
      lane.channel;
  Load(static_cast<const T*>(pool.gradient) + at, window.gradients);
  Load(pool.places + at, window.places);
}

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
    LoadWindow(pool, lane, window_row + i / kStride,
               window_column + i % kStride, windows[i / kStride][i % kStride]);
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

template <typename T, int kSize>
void Forward(const MaxPoolForward& pool, cudaStream_t stream) {
  const PoolGrid grid = GridOf(pool.shape, pool.shape.pooled_height(),
                               pool.shape.pooled_width(), kSize);
  const auto kernel = MaxPoolKernel<T, kSize>;
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
  TakesVectors<T>(pool.shape) ? Forward<T, Vector<T>::kSize>(pool, stream)
                              : Forward<T, 1>(pool, stream);
}

template <typename T>
void Launch(const MaxPoolBackward& pool, cudaStream_t stream) {
  TakesVectors<T>(pool.shape) ? Backward<T, Vector<T>::kSize>(pool, stream)
                              : Backward<T, 1>(pool, stream);
}

}  // namespace

void LaunchMaxPoolForward(const MaxPoolForward& pool, cudaStream_t stream) {
  if (pool.type == ImageType::kBfloat16) {
    Launch<__nv_bfloat16>(pool, stream);
  } else {
    Launch<float>(pool, stream);
  }
}

void LaunchMaxPoolBackward(const MaxPoolBackward& pool, cudaStream_t stream) {
  if (pool.type == ImageType::kBfloat16) {
    Launch<__nv_bfloat16>(pool, stream);
  } else {
    Launch<float>(pool, stream);
  }
}

}  // namespace infeed
