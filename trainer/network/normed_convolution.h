#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/types.h>

#include "trainer/network/convolution.h"
#include "trainer/network/fused_norm.h"

// A convolution that normalizes the images that it reads, so that these are
// never stored: one operation for norm, ReLU and convolution, by kernels that
// cuDNN has for float16 (fused_conv.h).
namespace infeed {

// ConvolveSummed(convolution, FusedNorm(x, norm, {}, /*relu=*/true)) but for
// rounding: scale and bias of the norm are float16, the norm's result is not.
// It is that itself for x of other types, not on a GPU, or where a part is
// frozen, the convolution has a bias or groups, or cuDNN lacks a kernel for one
// of the three passes. The first time for a shape, outside of captures, the
// kernels are looked for, as in CudaConvolutionSums().
[[nodiscard]] SummedImages ConvolveNormed(torch::nn::Conv2d& convolution,
                                          const torch::Tensor& x,
                                          const NormTensors& norm);

// ---- By the kernels ----

// Whether cuDNN has all three kernels. Requires: channels_last order.
[[nodiscard]] bool CudaConvolvesNormed(const SquareConvolution& convolution);

struct NormedConvolutionOutputs {
  SummedImages y;
  NormStatistics statistics;  // of x
  torch::Tensor folded;       // the norm's scale and bias, [2, C]
};

// Updates the moving statistics. Requires: CudaConvolvesNormed(convolution).
[[nodiscard]] NormedConvolutionOutputs CudaNormedConvolution(
    const SquareConvolution& convolution, const NormTensors& norm);

struct NormedConvolutionGradients {
  torch::Tensor x;
  torch::Tensor norm_weight;
  torch::Tensor norm_bias;
  torch::Tensor weight;
};

// norm: its weight and bias. y_gradient has the layout of y.
[[nodiscard]] NormedConvolutionGradients CudaNormedConvolutionBackward(
    const SquareConvolution& convolution, const NormTensors& norm,
    const NormStatistics& statistics, const torch::Tensor& folded,
    const torch::Tensor& y_gradient);

}  // namespace infeed
