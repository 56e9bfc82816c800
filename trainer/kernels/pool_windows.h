#pragma once

// For the kernels of max pooling only (max_pool.h): values and places of its
// windows.

#include <cstdint>

#include "trainer/kernels/max_pool.h"
#include "trainer/kernels/vectors.h"

namespace infeed {

constexpr int kSide = 3;  // of a window
constexpr int kStride = 2;

// The first channel of a thread's in a pixel, or in a window.
struct PoolLane {
  int image;
  int row;
  int column;
  int channel;
};

// Whether 0 <= at < size.
__device__ inline bool IsIn(int at, int size) {
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
  } else {
    const float2 pair = PairOf<T>(values.at[i / 2]);
    return i % 2 == 0 ? pair.x : pair.y;
  }
}

// Values in a word.
template <typename T>
constexpr int kWordSize = 4 / static_cast<int>(sizeof(T));

// Rounded to T; of float32 the first alone.
template <typename T>
__device__ std::uint32_t ToWord(float first, float second) {
  if constexpr (sizeof(T) == 4) {
    return __float_as_uint(first);
  } else {
    return WordOf<T>(first, second);
  }
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

// ---- Windows ----

template <typename T, int kSize>
struct PoolWindow {
  Values<T, kSize> gradients;
  Words<kSize> places;
};

// Of a window that does not exist, which may be, no place matches.
template <typename T, int kSize>
__device__ void LoadWindow(const MaxPoolShape& shape, const void* gradients,
                           const std::uint8_t* places, const PoolLane& lane,
                           PoolWindow<T, kSize>& window) {
  const int height = shape.pooled_height();
  const int width = shape.pooled_width();
  if (!IsIn(lane.row, height) || !IsIn(lane.column, width)) {
    window = {};
    for (std::uint32_t& word : window.places.at) {
      word = 0xFFFFFFFFU;
    }
    return;
  }
  const int at = ((lane.image * height + lane.row) * width + lane.column) *
                     shape.channels +
                 lane.channel;
  Load(static_cast<const T*>(gradients) + at, window.gradients);
  Load(places + at, window.places);
}

// Adds the gradients of the results that are at the window's `place`.
template <typename T, int kSize>
__device__ void AddWhere(const PoolWindow<T, kSize>& window, int place,
                         float (&sums)[kSize]) {
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    if (IsPlace(window.places, i, static_cast<std::uint32_t>(place))) {
      sums[i] += ValueOf<T>(window.gradients, i);
    }
  }
}

}  // namespace infeed
