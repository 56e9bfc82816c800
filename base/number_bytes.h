#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

// Numbers as the bytes of files and messages, the lowest first on every CPU.
namespace infeed {

// The number whose bytes in memory are little-endian, or the reverse.
template <typename Number>
requires std::is_arithmetic_v<Number>
[[nodiscard]] constexpr Number FromLittleEndian(Number number) {
  if constexpr (std::endian::native == std::endian::little) {
    return number;
  } else {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof(Number)>>(number);
    std::ranges::reverse(bytes);
    return std::bit_cast<Number>(bytes);
  }
}

// Reads the number of little-endian bytes; they need no alignment.
template <typename Number>
[[nodiscard]] inline Number LoadLittleEndian(const void* bytes) {
  Number number{};
  std::memcpy(&number, bytes, sizeof(number));
  return FromLittleEndian(number);
}

// Appends a number as a protobuf varint: seven bits per byte, the lowest first;
// the highest bit of a byte is set if another byte follows.
inline void AppendVarint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

}  // namespace infeed
