#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace infeed {

// Of what a record says: 128 bits, so that two records of a large set that
// differ do not have the same by chance. Not for keeping: another version may
// give another.
struct RecordHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const RecordHash&, const RecordHash&) = default;
};

// Returns the hash of an Example's features, the same for any order of its map
// and any encoding of its lists; of other bytes that of the bytes.
[[nodiscard]] RecordHash HashRecord(std::span<const std::byte> payload);

}  // namespace infeed
