#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/types.h>

namespace infeed {

// The convolution's forward(), with correct gradients on the CPU in bfloat16
// even where x is narrower than the stride.
//
// For that gradient of the weights, oneDNN groups the columns of x by their
// index modulo the stride. If a group has no column, it does not write the
// padding's zeros, and multiplies by uninitialized memory, often NaN. Such an x
// is extended with zeros on the right, so that every group has a column; the
// zeros replace padding, so that nothing else changes.
//
// Requires: x [N, C, H, W]; an odd kernel, padded by half of it.
[[nodiscard]] torch::Tensor Convolve(torch::nn::Conv2d& convolution,
                                     const torch::Tensor& x);

// Convolve() for images, x [N, 3, H, W], or with a fourth channel of zeros, for
// which the weight is padded with zeros. Channel c of a weight of more or fewer
// than three takes color c % 3. A weight of one channel takes the luminance of
// the colors, or x [N, 1, H, W] itself.
[[nodiscard]] torch::Tensor ConvolveImages(torch::nn::Conv2d& convolution,
                                           const torch::Tensor& x);

}  // namespace infeed
