#pragma once

#include <torch/types.h>

#include "trainer/network/fused_norm.h"

// FusedNorm() with the kernels of trainer/kernels/norm.h, on the current
// stream.
namespace infeed {

// Whether the kernels support x: on a GPU, float32 or bfloat16, channels a
// multiple of 8.
[[nodiscard]] bool CudaNormTakes(const torch::Tensor& x);

// x and residual.x (which may be undefined): [N, C, H, W] of one type, in
// channels_last order. Requires: CudaNormTakes(x).
[[nodiscard]] NormOutputs CudaNormForward(const torch::Tensor& x,
                                          const NormTensors& norm,
                                          const NormResidual& residual,
                                          bool relu);

// All images have the layout of x. The residual's gradient is computed only
// with has_residual.
[[nodiscard]] NormGradients CudaNormBackward(const NormBackwardInputs& inputs);

}  // namespace infeed
