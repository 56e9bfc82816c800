#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/types.h>

namespace infeed {

// The convolution's forward(), with gradients that are right on the CPU in
// bfloat16 where x is narrower than the stride.
//
// For that gradient of the weights, oneDNN gathers the columns of x by their
// place modulo the stride, and forgets to write the zeros beside a place that
// has no column: it multiplies by what the memory held before, often NaN. On
// such an x zeros to the right give every place a column; they lie where the
// padding was, so that nothing else changes.
//
// Requires: x [N, C, H, W]; an odd kernel, padded by half of it.
[[nodiscard]] torch::Tensor Convolve(torch::nn::Conv2d& convolution,
                                     const torch::Tensor& x);

}  // namespace infeed
