#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "records/bytes/whole_number.h"

// Hashes of 64 bits in files, as JSON has no such numbers: 16 hexadecimal
// digits.
namespace infeed {

[[nodiscard]] inline std::string HashText(std::uint64_t hash) {
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx",
                static_cast<unsigned long long>(hash));
  return hex.data();
}

// nullopt: the text is not what HashText() returns.
[[nodiscard]] inline std::optional<std::uint64_t> ParseHashText(
    std::string_view text) {
  constexpr int kHex = 16;
  const auto hash = ParsePlainNumber<std::uint64_t>(text, kHex);
  return hash && HashText(*hash) == text ? hash : std::nullopt;
}

}  // namespace infeed
