#pragma once

#include <cstdint>

#include <torch/nn/modules/conv.h>
#include <torch/types.h>

#include "trainer/network/fused_norm.h"

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
//
// With 7x7, stride 2, x may also be SpaceToDepth() of images; the result is
// that of the images but for the order in which it adds up.
[[nodiscard]] torch::Tensor ConvolveImages(torch::nn::Conv2d& convolution,
                                           const torch::Tensor& x);

// Convolve() and ConvolveImages() for a norm. Where one kernel of cuDNN can
// (fused_conv.h), it also sums the result: for 16-bit images on a GPU, by a
// convolution without bias and groups. Gradients are LibTorch's.
[[nodiscard]] SummedImages ConvolveSummed(torch::nn::Conv2d& convolution,
                                          const torch::Tensor& x);
[[nodiscard]] SummedImages ConvolveImagesSummed(torch::nn::Conv2d& convolution,
                                                const torch::Tensor& x);

// Images [N, 3, H, W], or with a fourth channel of zeros, as [N, 16, H / 2 + 3,
// W / 2 + 3] in channels_last order. Each square of 2x2 pixels has the place of
// a pixel, with channel 8 r + 4 s + c for channel c of its pixel [r, s]; two
// squares of zeros come before the first ones, one after the last ones. On it
// 7x7 with stride 2 is 4x4 with stride 1, for which a GPU has faster kernels.
// Requires: H and W are even.
[[nodiscard]] torch::Tensor SpaceToDepth(const torch::Tensor& images);

// A convolution by a square weight [K, C, k, k] of the type of x [N, C, H, W].
// Its result is in channels_last order.
struct SquareConvolution {
  torch::Tensor x;
  torch::Tensor weight;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};

// Whether cuDNN has a kernel for the convolution with the sums of its result.
// The first time for a shape, outside of captures, it is looked for, and timed
// beside others where LibTorch may time algorithms. Requires: channels_last
// order.
[[nodiscard]] bool CudaConvolutionSums(const SquareConvolution& convolution);

// The result and its sums, without gradients. Requires:
// CudaConvolutionSums(convolution).
[[nodiscard]] SummedImages CudaSummedConvolution(
    const SquareConvolution& convolution);

}  // namespace infeed
