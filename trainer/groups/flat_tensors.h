#pragma once

#include <vector>

#include <torch/types.h>

#include "trainer/groups/device_group.h"

// Exchanges many tensors over a group, in few large pieces.
namespace infeed {

// Replaces each tensor by its mean over the ranks, summed in float64, so that
// values equal on all ranks keep their bits. Requires: float32.
void Average(const std::vector<torch::Tensor>& tensors, DeviceGroup& group);

// Replaces each tensor by that of rank 0. Tensors may have any types.
void Broadcast(const std::vector<torch::Tensor>& tensors, DeviceGroup& group);

}  // namespace infeed
