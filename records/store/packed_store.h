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
#include "records/store/passed_records.h"
#include "records/store/record_index.h"

namespace infeed {

struct PackedStoreOptions {
  // Of a shard that is entered in its middle, so many records before the first
  // that is asked for are kept: they may be asked for next. From there on all
  // are that are passed over.
  std::int64_t near_records = 4096;
  // Bytes of such records, of all shards; the oldest go first. One that is
  // asked for all the same begins its shard anew.
  std::int64_t max_passed_bytes = std::int64_t{256} << 20;
  // Shards in the middle of which a cursor waits, beside those that are being
  // read; at least 1.
  std::size_t max_open_shards = 64;
};

// What a cursor of a shard takes in memory, beside the longest record.
inline constexpr std::int64_t kPackedCursorBytes = std::int64_t{1} << 20;

// The compressed shards of an indexed set: RecordStore's way to them.
//
// The index must outlive it. Owns the cursors and what they passed over.
// Thread-safe. Throws what PackedShard does.
class PackedStore {
 public:
  using Open =
      std::function<std::shared_ptr<const ByteSource>(std::int32_t shard)>;

  PackedStore(const RecordIndex& index, const PackedStoreOptions& options,
              Open open);

  // Reads a record's frame into buffer and returns its bytes. Requires: it lies
  // in a compressed shard.
  [[nodiscard]] std::size_t Read(std::int64_t record, std::int32_t shard,
                                 Access access, std::vector<std::byte>& buffer);

  // How often a shard was begun anew for a record behind a cursor.
  [[nodiscard]] std::int64_t restarts() const;
  [[nodiscard]] std::int64_t passed_bytes() const { return passed_.bytes(); }

 private:
  void Use(std::int32_t shard);

  PassedRecords passed_;
  const std::size_t max_open_shards_;
  std::vector<std::unique_ptr<PackedShard>> shards_;  // null: not compressed
  std::mutex mutex_;
  std::list<std::int32_t> uses_;  // the most recent first
};

}  // namespace infeed
