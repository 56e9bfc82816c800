#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "trainer/model/non_finite.h"
#include "trainer/tensors/host_tensor.h"

// Between tensors on a device and plain host memory.
namespace infeed {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Copies tensors, float32 or int64 in any memory format, to dense row-major
// memory.
[[nodiscard]] TensorMap ToHost(const NamedTensors& tensors);

// Throws DataError naming the first tensor that the map lacks, that it has
// beyond these, or whose type or shape differs.
void CheckFits(const NamedTensors& tensors, const TensorMap& state);

// Copies a state that fits into the tensors, which keep their layout.
void FromHost(const NamedTensors& tensors, const TensorMap& state);

// Those of the tensors that hold numbers which are not finite, in order.
[[nodiscard]] std::vector<NonFiniteTensor> NonFiniteOf(
    const std::string& kind, const NamedTensors& tensors);

// Of names and bytes: the same in every run and on every machine.
[[nodiscard]] std::uint64_t HashOf(const TensorMap& state);

}  // namespace infeed
