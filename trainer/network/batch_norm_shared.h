#pragma once

#include <torch/types.h>

#include "trainer/groups/device_group.h"

namespace infeed {

// A rank's result of a batch norm over the images of all ranks of a group.
struct SharedNorm {
  torch::Tensor output;             // as x
  torch::Tensor mean;               // [C], float32, of all ranks' images
  torch::Tensor unbiased_variance;  // [C], float32
};

// Normalises x [N, C, H, W] by the mean and variance over all ranks' N, H and
// W, and scales it; differentiable in x, weight and bias. The gradients of
// weight and bias are this rank's parts, to be summed over the ranks like all
// other gradients.
//
// Statistics are float32 for any type of x, and are combined from the ranks'
// means and the squares about them, so that no precision is lost where the mean
// is large. Waits for the other ranks once forward and once backward.
[[nodiscard]] SharedNorm SharedBatchNorm(const torch::Tensor& x,
                                         const torch::Tensor& weight,
                                         const torch::Tensor& bias,
                                         double epsilon, DeviceGroup& group);

}  // namespace infeed
