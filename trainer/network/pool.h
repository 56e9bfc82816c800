#pragma once

#include <torch/types.h>

namespace infeed {

// The averages of 2 x 2 pixels of relu(x), [N, C, H, W] -> [N, C, H/2, W/2].
// On the CPU, where x is float32, one pass over memory in each direction, with
// the values of LibTorch's operations to the last bit; those take seven times
// as long and more there. Requires: H and W are even.
[[nodiscard]] torch::Tensor PooledRelu(const torch::Tensor& x);

// BlurPool: x [N, C, H, W] convolved with the outer product of [1, 2, 1] / 4
// with itself, with stride 2; beyond its edges x is reflected, without the edge
// itself. The result is [N, C, (H + 1) / 2, (W + 1) / 2].
//
// Computed as two averages of 2x2 pixels, which together have these weights:
// they need no weights on the device, and a GPU's gradients have the same bits
// in every run.
[[nodiscard]] torch::Tensor Blurred(const torch::Tensor& x);

}  // namespace infeed
