#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace infeed {

// Text as the bytes that readers take, and back.
[[nodiscard]] inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}
[[nodiscard]] inline std::string AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace infeed
