#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace infeed {

// A tensor that has numbers which are not finite.
struct NonFiniteTensor {
  std::string kind;  // "input", "weights", "statistics", "gradients"
  std::string name;
  std::int64_t count = 0;  // numbers that are not finite
  std::int64_t size = 0;   // all numbers

  friend bool operator==(const NonFiniteTensor&,
                         const NonFiniteTensor&) = default;
};

// The first three of each kind and how many more there are: "weights
// conv1.weight (3 of 9408 values); gradients fc.bias (10 of 10 values), ... and
// 58 more". Requires: the tensors of a kind are consecutive.
[[nodiscard]] std::string NonFiniteText(
    const std::vector<NonFiniteTensor>& tensors);

}  // namespace infeed
