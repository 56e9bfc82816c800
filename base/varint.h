#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// Appends a number as protobuf writes it: seven bits a byte, the lowest first;
// the highest bit of a byte is set where another follows.
inline void AppendVarint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(value | 0x80));
  }
  out.push_back(static_cast<char>(value));
}

}  // namespace infeed
