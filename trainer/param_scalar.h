#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// What a value's text says by YAML 1.1's rules, as PyYAML reads them: the
// reference's parameters have their types from there.
namespace infeed {

struct ScalarInteger {
  bool negative = false;
  std::uint64_t magnitude = 0;
  bool is_too_large = false;  // for the magnitude
};

// Decimal, 0b101, 010 (octal: 8), 0x10, 12:30 (base 60: 750), with underscores
// and a sign. nullopt for anything else, "08" as well.
[[nodiscard]] std::optional<ScalarInteger> ParseInteger(std::string_view text);

// An integer, or 1.5, .5, 5., 1.5e-4, 12:30.5, with underscores; beyond YAML
// 1.1 also 1e-4 and 1.5e4. nullopt for what is not finite, too.
[[nodiscard]] std::optional<double> ParseNumber(std::string_view text);

// true/false, yes/no, on/off, and beyond YAML 1/0; in any case.
[[nodiscard]] std::optional<bool> ParseTruth(std::string_view text);

// null, ~ and, beyond YAML, Python's None.
[[nodiscard]] bool IsNull(std::string_view text);

}  // namespace infeed
