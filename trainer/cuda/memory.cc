#include "trainer/cuda/memory.h"

#include <cstring>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include "trainer/cuda/log.h"

namespace infeed {
namespace {

void* NewMemory(std::size_t size) {
  void* memory = nullptr;
  C10_CUDA_CHECK(cudaHostAlloc(&memory, size,
                               cudaHostAllocMapped | cudaHostAllocPortable));
  std::memset(memory, 0, size);
  return memory;
}

void* OnDevice(void* host) {
  void* device = nullptr;
  C10_CUDA_CHECK(cudaHostGetDevicePointer(&device, host, 0));
  return device;
}

}  // namespace

BatchMemory PinnedBatchMemory(int device) {
  const auto index = static_cast<c10::DeviceIndex>(device);
  return {.pin =
              [index](std::span<std::byte> bytes) {
                const c10::cuda::CUDAGuard guard(index);
                WithCudaLog([&] {
                  C10_CUDA_CHECK(cudaHostRegister(bytes.data(), bytes.size(),
                                                  cudaHostRegisterPortable));
                });
              },
          .unpin =
              [index](std::span<std::byte> bytes) {
                const c10::cuda::CUDAGuard guard(index);
                C10_CUDA_CHECK_WARN(cudaHostUnregister(bytes.data()));
              }};
}

void MappedBytes::Free::operator()(void* memory) const {
  C10_CUDA_CHECK_WARN(cudaFreeHost(memory));
}

MappedBytes::MappedBytes(std::size_t size)
    : host_(NewMemory(size)), device_(OnDevice(host_.get())) {}

}  // namespace infeed
