#pragma once

#include <vector>

#include "trainer/network/network.h"
#include "trainer/optimizer/named_tensors.h"
#include "trainer/optimizer/optimizer.h"

// A network's tensors, as a training step takes them. They share its memory.
namespace infeed {

// The parameters that are not frozen.
[[nodiscard]] std::vector<OptimizedParameter> ParametersOf(
    const Network& model, const OptimizerOptions& options);

// All parameters.
[[nodiscard]] NamedTensors WeightsOf(const Network& model);

// The moving mean and variance of each batch norm.
[[nodiscard]] NamedTensors StatisticsOf(const Network& model);

// All parameters, then all buffers: what a checkpoint holds of the model.
[[nodiscard]] NamedTensors TensorsOf(const Network& model);

}  // namespace infeed
