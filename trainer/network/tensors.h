#pragma once

#include <string>
#include <vector>

#include "trainer/network/network.h"
#include "trainer/optimizer/named_tensors.h"
#include "trainer/optimizer/optimizer.h"

// A network's tensors, for a training step. They share the network's memory.
namespace infeed {

// How many layers a parameter is before the classifier, as timm's layer_decay
// counts them: each of a ResNet's blocks is one, and so is the stem. 0 for all
// other parameters. With most_blocks above 1 each group of blocks is divided
// into as few layers of so many blocks as possible, which are as equal as
// possible: SparK's fine-tuning has 3 (ResNet-50, -101) or 4 (-152, -200).
[[nodiscard]] std::vector<int> LayersFromEnd(
    const std::vector<std::string>& names, int most_blocks = 1);

// The parameters that are not frozen, with their factors.
[[nodiscard]] std::vector<OptimizedParameter> ParametersOf(
    const Network& model, const OptimizerOptions& options);

// All parameters.
[[nodiscard]] NamedTensors WeightsOf(const Network& model);

// The moving mean and variance of each batch norm.
[[nodiscard]] NamedTensors StatisticsOf(const Network& model);

// All parameters, then all buffers: the model's part of a checkpoint.
[[nodiscard]] NamedTensors TensorsOf(const Network& model);

}  // namespace infeed
