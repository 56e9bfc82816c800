#include "trainer/cuda/stream.h"

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>

#include "base/error.h"

namespace infeed {
namespace {

const c10::cuda::CUDAStream& AfterCurrent(const c10::cuda::CUDAStream& stream) {
  at::cuda::CUDAEvent ready;
  ready.record(c10::cuda::getCurrentCUDAStream(stream.device_index()));
  ready.block(stream);
  return stream;
}

}  // namespace

void CudaWaits::For(const c10::cuda::CUDAStream& stream) {
  ++count_;
  C10_CUDA_CHECK(cudaStreamSynchronize(stream.stream()));
}

CudaStatus::CudaStatus(const torch::Device& device)
    : stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false,
                                           device.index())) {}

std::optional<std::string> CudaStatus::Failure() const {
  const cudaError_t error = cudaStreamQuery(stream_.stream());
  if (error == cudaSuccess || error == cudaErrorNotReady) {
    return std::nullopt;
  }
  return cudaGetErrorString(error);
}

void CudaStatus::Check() const {
  if (const std::optional<std::string> words = Failure()) {
    throw IoError(*words);
  }
}

CudaStreamScope::CudaStreamScope(const c10::cuda::CUDAStream& stream)
    : guard_(AfterCurrent(stream)) {}

}  // namespace infeed
