#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"

namespace infeed {

// The rounds of a keyed permutation (keyed_permutation.h).
struct PermutationRounds {
  std::uint32_t size = 0;
  PhiloxKeys philox_keys = {};
  std::uint32_t epoch = 0;
  std::uint32_t domain = 0;
  std::span<const std::uint32_t> keys = {};  // of each round
};

// Random bits of a block of Philox's: one for each of so many rounds.
inline constexpr int kBitsPerBlock = 128;

// Puts elements through all rounds, many side by side, by vector code.
// Requires: each is below the size.
void SwapInLanes(const PermutationRounds& rounds,
                 std::span<std::uint32_t> elements);

}  // namespace infeed
