#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <ATen/ATen.h>
#include <torch/nn/modules/conv.h>
#include <torch/types.h>

// Tensors for operations whose kernels a test runs: on a GPU, or on the CPU for
// which they are compiled (cuda_on_cpu.h).
namespace infeed {

#ifdef INFEED_CUDA_ON_CPU
inline constexpr c10::DeviceType kKernelDevice = torch::kCPU;
#else
inline constexpr c10::DeviceType kKernelDevice = torch::kCUDA;
#endif

// Its images keep their size at stride 1.
inline torch::nn::Conv2d SquareConv2d(std::int64_t channels,
                                      std::int64_t outputs, std::int64_t kernel,
                                      std::int64_t stride, bool bias = false,
                                      std::int64_t groups = 1) {
  torch::nn::Conv2d convolution(
      torch::nn::Conv2dOptions(channels, outputs, kernel)
          .stride(stride)
          .padding(kernel / 2)
          .groups(groups)
          .bias(bias));
  convolution->to(kKernelDevice);
  return convolution;
}

// Random numbers about 0.5, in channels_last order.
inline torch::Tensor RandomImages(at::IntArrayRef sizes,
                                  torch::ScalarType type) {
  return (torch::randn(sizes) + 0.5)
      .to(torch::device(kKernelDevice).dtype(type))
      .contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace infeed
