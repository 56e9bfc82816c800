#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/store/packed_shard.h"
#include "records/store/record_index.h"

namespace infeed {

struct PackedStoreOptions {
  // When reading starts in the middle of a shard, this many skipped records
  // before the first requested one are kept, as they may be requested next.
  // Behind it all skipped records are kept.
  std::int64_t near_records = 4096;
  // Limit in bytes of kept records of all shards; the oldest are dropped first.
  // A request for a dropped record starts again at its shard's begin.
  std::int64_t max_passed_bytes = std::int64_t{256} << 20;
  // Limit of shards with an idle cursor, besides those being read; at least 1.
  std::size_t max_open_shards = 64;
};

// Memory of a shard's cursor, besides the longest record.
inline constexpr std::int64_t kPackedCursorBytes = std::int64_t{1} << 20;

// The compressed shards of an indexed set, for RecordStore.
//
// The index must outlive it. Owns the cursors and the kept records.
// Thread-safe. Throws what PackedShard does.
class PackedStore {
 public:
  using Open =
      std::function<std::shared_ptr<const ByteSource>(std::int32_t shard)>;

  PackedStore(const RecordIndex& index, const PackedStoreOptions& options,
              Open open);

  // Reads a record's frame into buffer and returns its bytes. Requires: the
  // record is in a compressed shard.
  [[nodiscard]] std::size_t Read(std::int64_t record, std::int32_t shard,
                                 Access access, std::vector<std::byte>& buffer);

  // Sum of PackedShard::restarts().
  [[nodiscard]] std::int64_t restarts() const;

 private:
  void Use(std::int32_t shard);

  PassedRecords passed_;
  const std::size_t max_open_shards_;
  std::vector<std::unique_ptr<PackedShard>> shards_;  // null: not compressed
  std::mutex mutex_;
  std::list<std::int32_t> uses_;  // the most recent first
};

}  // namespace infeed
