#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/number_bytes.h"

namespace infeed {

// Text as the bytes that readers take, and back.
[[nodiscard]] inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}
[[nodiscard]] inline std::string AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A container's numbers as files have them.
template <typename Numbers>
[[nodiscard]] std::string LittleEndianBytes(const Numbers& numbers) {
  std::string text;
  for (auto number : numbers) {
    number = FromLittleEndian(number);
    text += AsText(std::as_bytes(std::span(&number, 1)));
  }
  return text;
}

}  // namespace infeed
