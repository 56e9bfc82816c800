#pragma once

#include <string>
#include <vector>

#include <torch/types.h>

#include "trainer/optimizer/optimizer.h"

// What optimizers share: the gradients of all parameters together, and lists of
// tensors beside them.
namespace infeed {

// Takes them off the parameters, each with its elements in memory in the same
// order as its weight's. Requires: every parameter has one.
[[nodiscard]] std::vector<torch::Tensor> TakeGradients(
    const std::vector<OptimizedParameter>& parameters);

// Scales them, in place, so that all of them as one vector are no longer than
// longest: by longest / (length + 1e-6) where that is below 1, as PyTorch
// does. Nothing waits for the device.
void ClipGradients(const std::vector<OptimizedParameter>& parameters,
                   double longest);

// Adds weight_decay * weight to the gradient of each parameter that is decayed
// and returns the L2 term whose gradient that is, weight_decay / 2 * sum of
// squares, on the device of `like`.
[[nodiscard]] torch::Tensor AddL2(
    const std::vector<OptimizedParameter>& parameters,
    const std::vector<torch::Tensor>& gradients, double weight_decay,
    const torch::Tensor& like);

// Zeros of each weight's shape and layout.
[[nodiscard]] std::vector<torch::Tensor> ZerosLike(
    const std::vector<OptimizedParameter>& parameters);

// The tensors under their parameters' names and a suffix.
[[nodiscard]] NamedTensors Named(
    const std::vector<OptimizedParameter>& parameters,
    const std::vector<torch::Tensor>& tensors, const std::string& suffix = "");

}  // namespace infeed
