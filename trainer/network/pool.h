#pragma once

#include <torch/types.h>

namespace infeed {

// The averages of 2 x 2 pixels of relu(x), [N, C, H, W] -> [N, C, H/2, W/2].
// On the CPU, where x is float32, one pass over memory in each direction, with
// the values of LibTorch's operations to the last bit; those take seven times
// as long and more there. Requires: H and W are even.
[[nodiscard]] torch::Tensor PooledRelu(const torch::Tensor& x);

}  // namespace infeed
