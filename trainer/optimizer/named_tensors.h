#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "trainer/formats/host_tensor.h"
#include "trainer/model/non_finite.h"

// Copies between tensors on a device and plain host memory.
namespace infeed {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Copies tensors, float32 or int64 in any memory format, to dense row-major
// memory.
[[nodiscard]] TensorMap ToHost(const NamedTensors& tensors);

// Throws DataError naming the first tensor that is missing in the map, that
// only the map has, or whose type or shape differs. Names that begin with
// `optional`, if that is not empty, may be missing or in the map alone.
void CheckFits(const NamedTensors& tensors, const TensorMap& state,
               std::string_view optional = {});

// Copies a state into the tensors, which keep their layout; those that the
// state does not have keep their values. Requires: it fits.
void FromHost(const NamedTensors& tensors, const TensorMap& state);

// The tensors with numbers that are not finite, in order.
[[nodiscard]] std::vector<NonFiniteTensor> FindNonFiniteTensors(
    const std::string& kind, const NamedTensors& tensors);

// A hash of names and bytes: the same in every run and on every machine.
[[nodiscard]] std::uint64_t HashTensors(const TensorMap& state);

}  // namespace infeed
