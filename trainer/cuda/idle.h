#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

namespace infeed {

// How long a GPU had nothing to do between the steps of a loop: what it lost to
// its input. The host's own waits do not say that, as it runs ahead. Events in
// the stream measure it, so that nobody waits. One thread at a time.
class CudaIdle {
 public:
  // steps: how far the host may be ahead of the device.
  CudaIdle(const c10::cuda::CUDAStream& stream, std::size_t steps);

  // To be called as the loop begins, and before and after each step's work is
  // put into the stream, but after it was told to wait for the step's input.
  void BeginLoop();
  void BeginStep();
  void EndStep();

  // Seconds since the last call. Requires: the device has done all.
  [[nodiscard]] double Take();

 private:
  // From the end of a step, or the loop's beginning, to the next one's begin.
  struct Gap {
    at::cuda::CUDAEvent from{cudaEventDefault};
    at::cuda::CUDAEvent to{cudaEventDefault};
  };
  [[nodiscard]] Gap& At(std::int64_t gap) {
    return gaps_[static_cast<std::size_t>(gap) % gaps_.size()];
  }
  void Add(std::int64_t gap);
  void OpenGap();

  c10::cuda::CUDAStream stream_;
  std::vector<Gap> gaps_;   // a ring
  std::int64_t first_ = 0;  // not added to seconds_ yet
  std::int64_t open_ = 0;   // whose end is not known yet
  double seconds_ = 0;
};

}  // namespace infeed
