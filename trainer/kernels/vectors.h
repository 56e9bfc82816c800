#pragma once

// For kernels only: reads and writes of 16 bytes, and sums over a block; and
// for what launches them.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "base/error.h"
#include "trainer/kernels/kernels.h"

namespace infeed {

// Default number of threads in a block.
constexpr int kThreads = 256;

// Throws IoError when CUDA rejected the launch before.
inline void CheckLaunch(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw IoError(std::string("the GPU refused the kernel ") + kernel + ": " +
                  cudaGetErrorString(error));
  }
}

// Calls launch(std::type_identity<T>()) for the type of the images' elements.
template <typename Launch>
void WithElement(ImageType type, const Launch& launch) {
  switch (type) {
    case ImageType::kFloat32:
      return launch(std::type_identity<float>());
    case ImageType::kBfloat16:
      return launch(std::type_identity<__nv_bfloat16>());
    case ImageType::kFloat16:
      return launch(std::type_identity<__half>());
  }
}

// 16 bytes of T, as float32 in registers.
template <typename T>
struct Vector {
  static constexpr int kSize = 16 / sizeof(T);
  float at[kSize];
};

// LoadVector() requires: from is aligned to 16 bytes.
__device__ inline Vector<float> LoadVector(const float* from) {
  const float4 bits = *reinterpret_cast<const float4*>(from);
  return {{bits.x, bits.y, bits.z, bits.w}};
}

// Two values of 16 bits in a word, the first in its low half.
template <typename T>
__device__ float2 PairOf(std::uint32_t word);
template <>
__device__ inline float2 PairOf<__nv_bfloat16>(std::uint32_t word) {
  return {__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000U)};
}
template <>
__device__ inline float2 PairOf<__half>(std::uint32_t word) {
  return __half22float2(*reinterpret_cast<const __half2*>(&word));
}

// The word of two values, which are rounded.
template <typename T>
__device__ std::uint32_t WordOf(float first, float second);
template <>
__device__ inline std::uint32_t WordOf<__nv_bfloat16>(float first,
                                                      float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
template <>
__device__ inline std::uint32_t WordOf<__half>(float first, float second) {
  const __half2 pair = __floats2half2_rn(first, second);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

template <typename T>
__device__ inline Vector<T> Unpacked(const uint4& bits) {
  const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
  Vector<T> values;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = PairOf<T>(words[i]);
    values.at[2 * i] = pair.x;
    values.at[2 * i + 1] = pair.y;
  }
  return values;
}

template <typename T>
__device__ inline Vector<T> LoadVector(const T* from) {
  return Unpacked<T>(*reinterpret_cast<const uint4*>(from));
}

__device__ inline uint4 Packed(const Vector<float>& values) {
  return {__float_as_uint(values.at[0]), __float_as_uint(values.at[1]),
          __float_as_uint(values.at[2]), __float_as_uint(values.at[3])};
}

template <typename T>
__device__ inline uint4 Packed(const Vector<T>& values) {
  return {WordOf<T>(values.at[0], values.at[1]),
          WordOf<T>(values.at[2], values.at[3]),
          WordOf<T>(values.at[4], values.at[5]),
          WordOf<T>(values.at[6], values.at[7])};
}

// The values that StoreVector() stores.
__device__ inline Vector<float> Rounded(const Vector<float>& values) {
  return values;
}
template <typename T>
__device__ inline Vector<T> Rounded(const Vector<T>& values) {
  return Unpacked<T>(Packed(values));
}

template <typename T>
__device__ inline void StoreVector(T* to, const Vector<T>& values) {
  *reinterpret_cast<uint4*>(to) = Packed(values);
}

__device__ inline void StoreOne(float* to, float value) { *to = value; }
__device__ inline void StoreOne(__nv_bfloat16* to, float value) {
  *to = __float2bfloat16_rn(value);
}
__device__ inline void StoreOne(__half* to, float value) {
  *to = __float2half_rn(value);
}

// Returns the sum of all threads' values to thread 0, always in the same order.
// All kThreads threads of the block must call it.
__device__ inline double SumOfBlock(double value) {
  __shared__ double warps[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) {
    value += __shfl_down_sync(0xFFFFFFFFU, value, step);
  }
  __syncthreads();  // The previous sum may still be being read.
  if (threadIdx.x % 32 == 0) {
    warps[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = 0;
  if (threadIdx.x == 0) {
    for (const double warp : warps) {
      value += warp;
    }
  }
  return value;
}

}  // namespace infeed
