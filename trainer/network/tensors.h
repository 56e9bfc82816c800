#pragma once

#include <vector>

#include "trainer/network/network.h"
#include "trainer/optimizer/named_tensors.h"
#include "trainer/optimizer/optimizer.h"

// A network's tensors, for a training step. They share the network's memory.
namespace infeed {

// The parameters that are not frozen.
[[nodiscard]] std::vector<OptimizedParameter> ParametersOf(
    const Network& model, const OptimizerOptions& options);

// All parameters.
[[nodiscard]] NamedTensors WeightsOf(const Network& model);

// The moving mean and variance of each batch norm.
[[nodiscard]] NamedTensors StatisticsOf(const Network& model);

// All parameters, then all buffers: the model's part of a checkpoint.
[[nodiscard]] NamedTensors TensorsOf(const Network& model);

}  // namespace infeed
