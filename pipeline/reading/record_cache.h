#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/memory/page_memory.h"
#include "pipeline/stats/stats.h"
#include "records/example/record_payload.h"

namespace infeed {

// A record with its seek index from beside the shard.
struct CachedRecord {
  RecordPayload payload;
  std::span<const std::byte> seek_index = {};  // sealed; empty: none
};

// Keeps encoded records in memory after their first read, so that later epochs
// neither read them again nor verify their checksums. It keeps the first
// records that come, as long as there is room, and never evicts one: a shuffled
// epoch reads every record once, so for a data set of twice the limit this
// saves half of the reads, where an LRU cache would save far fewer.
//
//   place of each record ──► lengths, checksum | payload | seek index
//                            in chunks of pages
//
// Owns the copies; returned views are valid as long as the cache lives.
// Thread-safe. Does not fail: a record for which there is no room is not kept.
class RecordCache {
 public:
  // Keeps up to limit_bytes in total, of records 0 to `records` - 1. With a
  // limit of 0 it keeps none.
  RecordCache(std::int64_t limit_bytes, std::int64_t records);

  // Returns the record if it is kept, else nullopt. Requires: 0 <= record <
  // records.
  [[nodiscard]] std::optional<CachedRecord> Find(std::int64_t record) const;
  // Whether Find() would return a record.
  [[nodiscard]] bool Has(std::int64_t record) const;

  // Keeps a copy of a record, if it is not kept yet and there is room.
  void Keep(std::int64_t number, const CachedRecord& record);

  [[nodiscard]] RecordCacheStats stats() const;

 private:
  struct Head;
  // A record's Head; null: the record is not kept.
  using Place = std::atomic<const Head*>;

  // Returns room for a record; null: there is none.
  std::byte* Reserve(std::size_t bytes);

  std::int64_t limit_;
  std::optional<PageMemory> table_;
  std::span<Place> places_;  // by record, in table_; empty: nothing is kept
  mutable std::atomic<std::int64_t> hits_{0};
  mutable std::mutex mutex_;  // guards the members below
  std::int64_t taken_ = 0;    // of limit_
  std::int64_t records_ = 0;
  std::vector<PageMemory> chunks_;
  std::span<std::byte> free_;  // the rest of the last chunk
};

}  // namespace infeed
