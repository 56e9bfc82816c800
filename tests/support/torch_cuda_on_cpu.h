#pragma once

#include <c10/core/Device.h>

#include "tests/support/cuda_on_cpu.h"

// The part of LibTorch's CUDA that the trainer's operations use, on the CPU:
// <c10/cuda/CUDAGuard.h> and <c10/cuda/CUDAStream.h> are this header.
namespace c10::cuda {

struct CUDAGuard {
  explicit CUDAGuard(const c10::Device& /*device*/) {}
};

using CUDAStream = cudaStream_t;
inline CUDAStream getCurrentCUDAStream() { return nullptr; }

}  // namespace c10::cuda
