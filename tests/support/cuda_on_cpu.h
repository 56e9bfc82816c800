#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>

#include "tests/support/float16.h"

// The part of CUDA that the trainer's kernels and their tests use, on the CPU.
// cuda_on_cpu.cmake rewrites the launches of .cu files, which are otherwise
// unchanged; <cuda_runtime_api.h>, <cuda_bf16.h> and <cuda_fp16.h> are this
// header.
//
// A launch runs three times from the same memory, with the threads of a block,
// and the blocks, in forward, backward and shuffled order. Launches fail, as a
// later cudaGetLastError() reports, if - the order changes any bit of the
// device's memory, - a byte before or after an allocation changes, - threads
// wait at a barrier that others of the block or warp do not reach.
//
// Threads are fibers of one thread of the CPU, which change only at barriers.
// One thread at a time.

#define INFEED_CUDA_ON_CPU 1
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(...)

// ---- Launches ----

struct dim3 {
  // NOLINTNEXTLINE(google-explicit-constructor): kernels<<<1, 32>>>
  constexpr dim3(unsigned columns = 1, unsigned rows = 1, unsigned layers = 1)
      : x(columns), y(rows), z(layers) {}
  unsigned x, y, z;
};

extern dim3 threadIdx, blockIdx, blockDim, gridDim;

using cudaStream_t = struct CUstream_st*;

namespace infeed {

// While it lives, launches run once. For many of them; and where a kernel
// updates memory that is not the device's, which the runs do not restore.
class OneOrder {
 public:
  OneOrder();
  ~OneOrder();
  OneOrder(const OneOrder&) = delete;
  OneOrder& operator=(const OneOrder&) = delete;

 private:
  bool before_;
};

// Calls thread() for each thread of the grid.
void RunOnCpu(const dim3& grid, const dim3& block,
              const std::function<void()>& thread);
void WaitForBlock();
void WaitForWarp();
// 8 bytes for each thread of the current thread's warp.
std::uint64_t* WarpSlots();

// The rewritten form of KERNEL<<<GRID, BLOCK, SHARED, STREAM>>>.
template <typename... Parameters>
auto CudaLaunch(void (*kernel)(Parameters...), const dim3& grid,
                const dim3& block, std::size_t /*shared*/,
                cudaStream_t /*stream*/) {
  return [=](Parameters... arguments) {
    RunOnCpu(grid, block, [&] { kernel(arguments...); });
  };
}

}  // namespace infeed

inline void __syncthreads() { infeed::WaitForBlock(); }
inline void __threadfence_system() {}

template <typename T>
T __shfl_down_sync(unsigned /*mask*/, T value, unsigned delta) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t* const slots = infeed::WarpSlots();
  const unsigned lane = threadIdx.x % 32;
  std::memcpy(&slots[lane], &value, sizeof(T));
  infeed::WaitForWarp();
  if (lane + delta < 32) {
    std::memcpy(&value, &slots[lane + delta], sizeof(T));
  }
  infeed::WaitForWarp();
  return value;
}

// ---- Numbers ----

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};
struct alignas(8) uint2 {
  std::uint32_t x, y;
};
struct alignas(8) float2 {
  float x, y;
};
struct __nv_bfloat16 {
  std::uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
struct __half {
  infeed::Float16 bits;
};
struct alignas(4) __half2 {
  __half x, y;
};

template <typename T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
inline float __uint_as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t __float_as_uint(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  constexpr std::uint16_t kNan = 0x7FFF;
  return {std::isnan(value) ? kNan : infeed::Bfloat16Bits(value)};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
inline __half __float2half_rn(float value) {
  return {infeed::ToFloat16(value)};
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half_rn(x), __float2half_rn(y)};
}
inline float2 __half22float2(const __half2& pair) {
  return {infeed::ToFloat(pair.x.bits), infeed::ToFloat(pair.y.bits)};
}

// ---- Memory and errors ----

enum cudaError_t { cudaSuccess, cudaErrorLaunchFailure };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
constexpr unsigned cudaHostAllocMapped = 2;
constexpr unsigned cudaEventDefault = 0;

// The last failure, once.
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaFree(void* memory);
inline cudaError_t cudaHostAlloc(void** memory, std::size_t bytes,
                                 unsigned /*flags*/) {
  return cudaMalloc(memory, bytes);
}
inline cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }
inline cudaError_t cudaHostGetDevicePointer(void** device, void* host,
                                            unsigned /*flags*/) {
  *device = host;
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                              cudaMemcpyKind /*kind*/) {
  if (bytes != 0) {
    std::memcpy(to, from, bytes);
  }
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

// ---- Graphs ----

// Pointers to a kernel's arguments, of 8 bytes each.
class CudaArguments {
 public:
  template <std::size_t kCount>
  CudaArguments& operator=(void* (&arguments)[kCount]) {
    static_assert(kCount <= std::size(decltype(words_)()));
    for (std::size_t i = 0; i < kCount; ++i) {
      std::memcpy(&words_[i], arguments[i], sizeof(words_[i]));
    }
    return *this;
  }
  [[nodiscard]] const std::array<std::uint64_t, 4>& words() const {
    return words_;
  }

 private:
  std::array<std::uint64_t, 4> words_ = {};
};

struct cudaKernelNodeParams {
  void* func = nullptr;
  dim3 gridDim, blockDim;
  CudaArguments kernelParams;
};

// A graph of one kernel with one thread.
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphNode_t = cudaKernelNodeParams*;
struct CUgraph_st {
  cudaKernelNodeParams node;
};

inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node,
                                          cudaGraph_t graph,
                                          const cudaGraphNode_t* /*after*/,
                                          std::size_t /*after_count*/,
                                          const cudaKernelNodeParams* kernel) {
  graph->node = *kernel;
  *node = &graph->node;
  return cudaSuccess;
}

// Here a handle is the address of its value in the device's memory.
using cudaGraphConditionalHandle = std::uint64_t;
inline void cudaGraphSetConditional(cudaGraphConditionalHandle handle,
                                    unsigned value) {
  *reinterpret_cast<unsigned*>(handle) = value;
}

namespace infeed {

// Launches the graph.
void RunGraph(const CUgraph_st& graph);

}  // namespace infeed
