#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace infeed {

// A tensor with numbers in it that are not finite.
struct NonFiniteTensor {
  std::string kind;  // "input", "weights", "statistics", "gradients"
  std::string name;
  std::int64_t count = 0;  // of such numbers
  std::int64_t size = 0;   // of all its numbers

  friend bool operator==(const NonFiniteTensor&,
                         const NonFiniteTensor&) = default;
};

// The first three of each kind and how many more there are: "weights
// conv1.weight (3 of 9408 values); gradients fc.bias (10 of 10 values), ... and
// 58 more". Requires: a kind's tensors lie side by side.
[[nodiscard]] std::string NonFiniteText(
    const std::vector<NonFiniteTensor>& tensors);

}  // namespace infeed
