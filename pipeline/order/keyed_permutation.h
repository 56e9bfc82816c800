#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace infeed {

// Selects a permutation: equal keys and sizes give equal permutations.
struct PermutationKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint32_t domain = 0;  // what is permuted: see below
};

// Domains keep an epoch's permutations different from each other. The number of
// a block or group, from 0, is added to its domain.
inline constexpr std::uint32_t kRecordDomain = 0;
inline constexpr std::uint32_t kShardDomain = 1;
inline constexpr std::uint32_t kGroupDomain = 0x40000000;
inline constexpr std::uint32_t kBlockDomain = 0x80000000;

// A permutation of [0, size) by arithmetic alone: no table, no state, any size,
// constant time, in both directions. It is a "swap-or-not" permutation (Hoang,
// Morris, Rogaway, CRYPTO 2012) keyed by Philox's order stream.
//
// Round i of R maps x to its partner (key_i - x) mod size where a random bit of
// max(x, partner) is set, and leaves it otherwise. R = 6 * (bits of size - 1),
// at least 64 and so at most 192. All words come from the order stream of
// (seed, epoch) at positions of domain * 2^32 + m: bit i of element m is bit i
// mod 32 of word (i mod 128) / 32 in block i / 128 at position m; key_i is
// drawn below size by word i mod 4 of block 2 + i / 4 at position 0.
//
// Const members may be called from several threads at once. Nothing fails.
class KeyedPermutation {
 public:
  // Requires: size > 0. Computes the rounds' keys, at half the cost of a call
  // as At().
  KeyedPermutation(std::uint32_t size, const PermutationKey& key);

  // Returns the element at a position; both below size.
  [[nodiscard]] std::uint32_t At(std::uint32_t position) const;
  // Replaces positions by their elements, many at a time, several times as fast
  // as At().
  void ToElements(std::span<std::uint32_t> positions) const;
  // Returns the position of an element: At(PositionOf(e)) == e.
  [[nodiscard]] std::uint32_t PositionOf(std::uint32_t element) const;

  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  static constexpr std::size_t kMaxRounds = 192;

  std::uint32_t size_;
  PermutationKey key_;
  int rounds_ = 0;
  std::array<std::uint32_t, kMaxRounds> round_keys_{};  // the first rounds_
};

}  // namespace infeed
