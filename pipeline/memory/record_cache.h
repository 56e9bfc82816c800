#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/memory/page_memory.h"
#include "records/example/record_payload.h"

namespace infeed {

// What a cache holds, and how often it was of use.
struct RecordCacheStats {
  std::int64_t records = 0;  // kept
  std::int64_t bytes = 0;    // of memory taken up for them, of limit_bytes
  std::int64_t limit_bytes = 0;
  std::int64_t hits = 0;  // reads that it answered
};

// A record with the seek index that lies beside its shard.
struct CachedRecord {
  RecordPayload payload;
  std::span<const std::byte> seek_index = {};  // sealed; empty: there is none
};

// Encoded records in memory, kept once they are read, so that a later epoch
// does not read them again nor verify their checksums. The first that come are
// kept, as far as there is room, and none is ever put out again: a shuffled
// epoch asks for every record once, so that of a data set twice the limit half
// the reads are saved, where a cache of the last used would save none.
//
//   place of each record ──► lengths, checksum | payload | seek index
//                            in chunks of pages
//
// Owns the copies; what it hands out lives as long as the cache. Thread-safe.
// Does not fail: what finds no room is not kept.
class RecordCache {
 public:
  // Keeps up to limit_bytes in all, of records 0 to `records` - 1. A limit of
  // 0 keeps none.
  RecordCache(std::int64_t limit_bytes, std::int64_t records);

  // Returns a record that is kept, nullopt for others. Requires: 0 <= record <
  // records.
  [[nodiscard]] std::optional<CachedRecord> Find(std::int64_t record) const;
  // Whether Find() would.
  [[nodiscard]] bool Has(std::int64_t record) const;

  // Keeps a copy where there is none and there is room.
  void Keep(std::int64_t number, const CachedRecord& record);

  [[nodiscard]] RecordCacheStats stats() const;

 private:
  struct Head;
  // Of each record: where its Head lies; null: it is not kept.
  using Place = std::atomic<const Head*>;

  // Returns room for a record; null: there is none.
  std::byte* Reserve(std::size_t bytes);

  std::int64_t limit_;
  std::optional<PageMemory> table_;
  std::span<Place> places_;  // in table_; empty: nothing is kept
  mutable std::atomic<std::int64_t> hits_{0};
  mutable std::mutex mutex_;  // over what follows
  std::int64_t taken_ = 0;    // of limit_
  std::int64_t records_ = 0;
  std::vector<PageMemory> chunks_;
  std::span<std::byte> free_;  // the rest of the last chunk
};

}  // namespace infeed
