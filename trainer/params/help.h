#pragma once

#include <string>
#include <string_view>

#include "trainer/params/table.h"

// Text about parameters for --help, error messages and docs/parameters.md.
namespace infeed {

// "a|b|c" as "a, b or c".
[[nodiscard]] std::string ChoicesText(std::string_view choices);

// "a, b or c", "at least 1, at most 8"; "" when all values are valid.
[[nodiscard]] std::string RangeText(const Param& param);

// The lower limit of the range, "at least 1" or "more than 0", and the upper
// one, "at most 8" or "less than 1". Requires: the range has that limit.
[[nodiscard]] std::string MinText(const Param& param);
[[nodiscard]] std::string MaxText(const Param& param);

// The default value, or Param::when_not_given where there is such a text.
[[nodiscard]] std::string DefaultText(const Param& param);

}  // namespace infeed
