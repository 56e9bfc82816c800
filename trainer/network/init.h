#pragma once

#include <torch/nn/module.h>

#include "trainer/model/options.h"

namespace infeed {

// Sets a new network's initial weights, which depend only on options.seed.
// Biases are 0, norms' scales are left as they are; the other weights depend on
// the kind of network:
//
//   ResNet: convolutions normal with the standard deviation sqrt(1 / fan_in),
//     cut off at two standard deviations of the uncut distribution; the
//     classifier normal with 0.01 (the reference driver's).
//   xla_jl: uniform in +-sqrt(6 / sum of the tensor's dimensions), as Flux 0.7
//     has it.
//   LeNet: Glorot's uniform, +-sqrt(6 / (fan_in + fan_out)).
void InitialiseWeights(const ModelOptions& options, torch::nn::Module& network);

}  // namespace infeed
