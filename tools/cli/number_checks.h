#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace infeed {

// Replace CLI11's checks of the same names, whose messages print the largest
// floating-point number.
[[nodiscard]] inline CLI::Validator PositiveNumber() {
  return CLI::Validator(
      [](std::string& text) {
        return CLI::PositiveNumber(text).empty() ? std::string()
                                                 : text + " is not above 0";
      },
      CLI::PositiveNumber.get_description());
}

[[nodiscard]] inline CLI::Validator NonNegativeNumber() {
  return CLI::Validator(
      [](std::string& text) {
        return CLI::NonNegativeNumber(text).empty()
                   ? std::string()
                   : text + " is not a number from 0 on";
      },
      CLI::NonNegativeNumber.get_description());
}

}  // namespace infeed
