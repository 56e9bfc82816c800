#pragma once

#include <c10/core/Device.h>

#include "tests/support/cuda_on_cpu.h"
#include "tests/support/cudnn_on_cpu.h"

// The part of LibTorch's CUDA that the trainer's operations use, on the CPU:
// <ATen/cuda/CUDAEvent.h>, <ATen/cudnn/Handle.h> and headers of c10/cuda are
// this header.
namespace c10::cuda {

struct CUDAGuard {
  explicit CUDAGuard(const c10::Device& /*device*/) {}
};

using CUDAStream = cudaStream_t;
inline CUDAStream getCurrentCUDAStream() { return nullptr; }

enum class CaptureStatus { None };
inline CaptureStatus currentStreamCaptureStatusMayInitCtx() {
  return CaptureStatus::None;
}

}  // namespace c10::cuda

namespace at::cuda {

// Of work that takes no time.
struct CUDAEvent {
  explicit CUDAEvent(unsigned /*flags*/) {}
  void record() {}
  void synchronize() {}
  [[nodiscard]] float elapsed_time(const CUDAEvent& /*end*/) const { return 0; }
};

}  // namespace at::cuda

namespace at::native {

inline cudnnHandle_t getCudnnHandle() { return nullptr; }

}  // namespace at::native
