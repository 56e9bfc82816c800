#pragma once

#include <cstddef>
#include <string_view>

namespace infeed {

// A text without leading and trailing blanks.
[[nodiscard]] inline std::string_view Trimmed(
    std::string_view text, std::string_view blanks = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace infeed
