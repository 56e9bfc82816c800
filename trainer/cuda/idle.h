#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

namespace infeed {

// Measures how long a GPU was idle between the steps of a loop: the time that
// it waited for its input. The host's waits do not show this, since the host
// runs ahead. Events in the stream measure it without waiting. One thread at a
// time.
class CudaIdle {
 public:
  // steps: how far the host may be ahead of the device.
  CudaIdle(const c10::cuda::CUDAStream& stream, std::size_t steps);

  // Call BeginLoop() as the loop begins, and BeginStep() and EndStep() before
  // and after enqueuing each step's work, but BeginStep() after enqueuing the
  // wait for the step's input.
  void BeginLoop();
  void BeginStep();
  void EndStep();

  // Idle seconds since the last call. Requires: the device has finished all
  // work.
  [[nodiscard]] double Take();

 private:
  // From the end of a step, or the loop's start, to the start of the next step.
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
  std::int64_t first_ = 0;  // first gap not added to seconds_ yet
  std::int64_t open_ = 0;   // the gap whose end is not recorded yet
  double seconds_ = 0;
};

}  // namespace infeed
