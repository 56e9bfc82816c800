#include "trainer/cuda/idle.h"

#include <utility>

namespace infeed {

// Two more than steps: one gap is open, and one is being recorded.
CudaIdle::CudaIdle(const c10::cuda::CUDAStream& stream, std::size_t steps)
    : stream_(stream), gaps_(steps + 2) {}

void CudaIdle::OpenGap() {
  if (open_ - first_ == static_cast<std::int64_t>(gaps_.size())) {
    Add(first_);
  }
  At(open_).from.record(stream_);
}

void CudaIdle::BeginLoop() { OpenGap(); }

void CudaIdle::BeginStep() { At(open_++).to.record(stream_); }

void CudaIdle::EndStep() { OpenGap(); }

void CudaIdle::Add(std::int64_t gap) {
  constexpr double kMilliseconds = 1000;
  seconds_ += At(gap).from.elapsed_time(At(gap).to) / kMilliseconds;
  first_ = gap + 1;
}

double CudaIdle::Take() {
  while (first_ < open_) {
    Add(first_);
  }
  return std::exchange(seconds_, 0);
}

}  // namespace infeed
