#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace infeed {

// A 128-bit hash of a record's content, so that different records of a large
// set practically never have equal hashes. Do not store it: it may change with
// the version.
struct RecordHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const RecordHash&, const RecordHash&) = default;
};

// Returns the hash of an Example's features, which does not depend on the order
// of its map or the encoding of its lists; for other payloads the hash of the
// bytes.
[[nodiscard]] RecordHash HashRecord(std::span<const std::byte> payload);

}  // namespace infeed
