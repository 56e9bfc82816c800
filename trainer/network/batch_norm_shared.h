#pragma once

#include <torch/types.h>

#include "trainer/groups/device_group.h"

namespace infeed {

// What a batch norm over the images of a group's ranks gives a rank.
struct SharedNorm {
  torch::Tensor output;             // as x
  torch::Tensor mean;               // [C], float32, of all ranks' images
  torch::Tensor unbiased_variance;  // [C], float32
};

// Normalises x [N, C, H, W] by the mean and variance over all ranks' N, H and
// W, and scales it; differentiable in x, weight and bias. What weight and bias
// get are this rank's parts of their gradients, to be added up like all
// others.
//
// Statistics are float32, whatever x is, and are put together from the ranks'
// means and squares about those: no digits are lost where the mean is large.
// Waits for the other ranks once forward and once backward.
[[nodiscard]] SharedNorm SharedBatchNorm(const torch::Tensor& x,
                                         const torch::Tensor& weight,
                                         const torch::Tensor& bias,
                                         double epsilon, DeviceGroup& group);

}  // namespace infeed
