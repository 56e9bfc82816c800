#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trainer/formats/host_tensor.h"

namespace infeed {

// A tensor of the values, as one dimension unless a shape is given.
inline HostTensor FloatTensor(const std::vector<float>& values,
                              std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) {
    shape = {static_cast<std::int64_t>(values.size())};
  }
  const auto bytes = std::as_bytes(std::span(values));
  return {.type = DataType::kFloat32,
          .shape = std::move(shape),
          .bytes = {bytes.begin(), bytes.end()}};
}

// A scalar.
inline HostTensor IntTensor(std::int64_t value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {.type = DataType::kInt64,
          .shape = {},
          .bytes = {bytes.begin(), bytes.end()}};
}

}  // namespace infeed
