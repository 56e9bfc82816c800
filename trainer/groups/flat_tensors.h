#pragma once

#include <vector>

#include <torch/types.h>

#include "trainer/groups/device_group.h"

// Many tensors over a group, in few large pieces.
namespace infeed {

// Replaces each tensor by its mean over the ranks, added up in float64: equal
// values stay the same bits. Requires: float32.
void Average(const std::vector<torch::Tensor>& tensors, DeviceGroup& group);

// Replaces each tensor by rank 0's. Any types.
void Broadcast(const std::vector<torch::Tensor>& tensors, DeviceGroup& group);

}  // namespace infeed
