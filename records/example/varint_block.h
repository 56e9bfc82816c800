#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace infeed {

// What was read of a block of varints.
struct VarintsRead {
  std::size_t numbers = 0;
  std::size_t bytes = 0;
};

// The bytes of a block that are read at once.
inline constexpr std::size_t kVarintsBytes = 16;

// Reads varints from the beginning of a block, several at once by vector code:
// as many as there is room for, but not the last ones (fewer than kVarintsBytes
// are left, or there is room for fewer than eight), and none from one of more
// than four bytes on, so perhaps none at all.
[[nodiscard]] VarintsRead ReadVarints(std::span<const std::byte> block,
                                      std::span<std::int64_t> numbers);

}  // namespace infeed
