#include "trainer/cuda/stream.h"

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>

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

CudaStreamScope::CudaStreamScope(const c10::cuda::CUDAStream& stream)
    : guard_(AfterCurrent(stream)) {}

}  // namespace infeed
