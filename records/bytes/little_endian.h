#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

// Little-endian numbers, as this project's files hold them.
namespace infeed {

// Appends the lowest `bytes` bytes of a value. Requires: 0 < bytes <= 8.
inline void AppendLittleEndian(std::string& out, std::uint64_t value,
                               std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

// Returns the value of `bytes` bytes at an offset. Requires: `from` has them, 0
// < bytes <= 8.
[[nodiscard]] inline std::uint64_t LittleEndianAt(
    std::span<const std::byte> from, std::size_t offset, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::to_integer<std::uint64_t>(from[offset + i]) << (8 * i);
  }
  return value;
}

}  // namespace infeed
