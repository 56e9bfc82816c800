#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

// The fingerprint of a slot: a hash of what it was filled with. It is the same
// for any threads, ranks, workers, caches and layout; a stream's fingerprint is
// the sum of those of its slots, in any order.
namespace infeed {

// The record in a slot.
struct SlotRecord {
  std::int64_t record = 0;
  std::size_t payload_bytes = 0;
  std::optional<std::uint32_t> stored_crc = {};  // RecordPayload's
  std::int32_t label = -1;                       // Batch::labels()
};

[[nodiscard]] std::uint64_t HashRecord(const SlotRecord& record);

// Where the slot is in the stream, and FillCounts::made of its image and views;
// 0 without images.
struct SlotMaking {
  std::uint32_t epoch = 0;
  std::int64_t position = 0;
  std::uint64_t made = 0;
};

[[nodiscard]] std::uint64_t SlotFingerprint(std::uint64_t record_hash,
                                            const SlotMaking& making);

// The record_hash with which SlotFingerprint() gives this fingerprint.
[[nodiscard]] std::uint64_t RecordHashIn(std::uint64_t fingerprint,
                                         const SlotMaking& making);

}  // namespace infeed
