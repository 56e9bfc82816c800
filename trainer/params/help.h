#pragma once

#include <string>
#include <string_view>

#include "trainer/params/table.h"

// The table in words: for --help, for errors, for docs/parameters.md.
namespace infeed {

// "a|b|c" as "a, b or c".
[[nodiscard]] std::string ChoicesText(std::string_view choices);

// "a, b or c", "at least 1, at most 8"; "" when all values are good.
[[nodiscard]] std::string RangeText(const Param& param);

// The two halves of it: "at least 1", "more than 0"; "at most 8", "less than
// 1". Requires: the range has that end.
[[nodiscard]] std::string MinText(const Param& param);
[[nodiscard]] std::string MaxText(const Param& param);

// A default: its value, or what it is when it is not given.
[[nodiscard]] std::string DefaultText(const Param& param);

}  // namespace infeed
