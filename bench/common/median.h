#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace infeed {

// The middle value; for an even number of values the mean of the two middle
// ones. Requires: values is not empty.
[[nodiscard]] inline double Median(std::vector<double> values) {
  const auto upper =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, upper);
  return values.size() % 2 == 1
             ? *upper
             : (*upper + *std::max_element(values.begin(), upper)) / 2;
}

}  // namespace infeed
