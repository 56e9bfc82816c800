#pragma once

#include <cstdint>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace infeed {

// The host's waits for a device: all of them go through here, and are counted.
class CudaWaits {
 public:
  // Until all that the stream holds has ended. Throws c10::Error for what
  // failed in it.
  void For(const c10::cuda::CUDAStream& stream);

  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
};

// While it lives, this thread works on the stream and its device; what the
// stream gets waits for what the stream before it holds.
class CudaStreamScope {
 public:
  explicit CudaStreamScope(const c10::cuda::CUDAStream& stream);

 private:
  c10::cuda::CUDAStreamGuard guard_;
};

}  // namespace infeed
