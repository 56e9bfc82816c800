#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

namespace infeed {

// Makes and counts all of the host's waits for a device.
class CudaWaits {
 public:
  // Waits until all work in the stream has ended. Throws c10::Error for work
  // that failed.
  void For(const c10::cuda::CUDAStream& stream);

  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
};

// Whether a GPU has failed: then every call of CUDA returns that error.
class CudaStatus {
 public:
  explicit CudaStatus(const torch::Device& device);

  // CUDA's error text if the GPU has failed. From any thread.
  [[nodiscard]] std::optional<std::string> Failure() const;
  // Throws IoError with Failure()'s text if the GPU has failed.
  void Check() const;

 private:
  c10::cuda::CUDAStream stream_;  // Never captured.
};

// While it lives, this thread uses the stream and its device; new work in the
// stream waits for the work in the previous current stream.
class CudaStreamScope {
 public:
  explicit CudaStreamScope(const c10::cuda::CUDAStream& stream);

 private:
  c10::cuda::CUDAStreamGuard guard_;
};

}  // namespace infeed
