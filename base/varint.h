#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// Appends a number as a protobuf varint: seven bits per byte, the lowest first;
// the highest bit of a byte is set if another byte follows.
inline void AppendVarint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

}  // namespace infeed
