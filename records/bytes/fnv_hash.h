#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "records/bytes/hash_text.h"

namespace infeed {

// FNV-1a, 64 bits: the same value in every run and on every machine. For names
// and versions; not secure against deliberate collisions.
[[nodiscard]] constexpr std::uint64_t FnvHash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  }
  return hash;
}

// The hash in 16 hexadecimal digits.
[[nodiscard]] inline std::string FnvHashText(std::string_view text) {
  return HashText(FnvHash(text));
}

}  // namespace infeed
