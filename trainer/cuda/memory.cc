#include "trainer/cuda/memory.h"

#include <memory>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include "trainer/cuda/log.h"

namespace infeed {
namespace {

StepRecord* NewRecords(std::size_t count) {
  void* memory = nullptr;
  C10_CUDA_CHECK(cudaHostAlloc(&memory, count * sizeof(StepRecord),
                               cudaHostAllocMapped | cudaHostAllocPortable));
  auto* const records = static_cast<StepRecord*>(memory);
  std::uninitialized_value_construct_n(records, count);
  return records;
}

StepRecord* OnDevice(StepRecord* host) {
  void* device = nullptr;
  C10_CUDA_CHECK(cudaHostGetDevicePointer(&device, host, 0));
  return static_cast<StepRecord*>(device);
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

void MappedRecords::Free::operator()(StepRecord* records) const {
  C10_CUDA_CHECK_WARN(cudaFreeHost(records));
}

MappedRecords::MappedRecords(std::size_t count)
    : count_(count), host_(NewRecords(count)), device_(OnDevice(host_.get())) {}

}  // namespace infeed
