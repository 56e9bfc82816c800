#pragma once

#include <torch/types.h>

namespace infeed {

// The averages of 2 x 2 pixels of relu(x), [N, C, H, W] -> [N, C, H/2, W/2].
// On the CPU, where x is float32, one pass over memory in each direction, with
// the values of LibTorch's operations to the last bit; those take seven times
// as long and more there. Requires: H and W are even.
[[nodiscard]] torch::Tensor PooledRelu(const torch::Tensor& x);

struct MaxPooling {
  // TensorFlow's padding: the first windows begin a pixel beyond x's edge only
  // where the size is odd, else always.
  bool same = false;
  bool own_kernels = true;  // where there are such
};

// Max pool of windows of 3x3 pixels with stride 2, [N, C, H, W] -> [N, C,
// (H + 1) / 2, (W + 1) / 2]. On a GPU, where x is float32, bfloat16 or float16,
// our kernels keep a byte of each result for the gradient, LibTorch's keep
// eight; both have the same bits.
[[nodiscard]] torch::Tensor MaxPooled(const torch::Tensor& x,
                                      const MaxPooling& how);

// Whether the kernels support x: on a GPU, float32, bfloat16 or float16, not
// empty, and of less than 2^31 results.
[[nodiscard]] bool CudaMaxPoolTakes(const torch::Tensor& x);

// MaxPooled() by the kernels, in channels_last order. Requires:
// CudaMaxPoolTakes(x).
[[nodiscard]] torch::Tensor CudaMaxPooled(const torch::Tensor& x, bool same);

// BlurPool: x [N, C, H, W] convolved with the outer product of [1, 2, 1] / 4
// with itself, with stride 2; beyond its edges x is reflected, without the edge
// itself. The result is [N, C, (H + 1) / 2, (W + 1) / 2].
//
// Computed as two averages of 2x2 pixels, which together have these weights:
// they need no weights on the device, and a GPU's gradients have the same bits
// in every run.
[[nodiscard]] torch::Tensor Blurred(const torch::Tensor& x);

}  // namespace infeed
