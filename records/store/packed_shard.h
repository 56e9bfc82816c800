#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/store/record_index.h"

namespace infeed {

// Frames of records that were unpacked on the way to others and have not been
// requested yet. Owns copies of at most max_bytes; the oldest are dropped
// first. Thread-safe.
class PassedRecords {
 public:
  explicit PassedRecords(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  // Keeps a record's frame, unless it alone is over the limit.
  void Keep(std::int64_t record, std::span<const std::byte> frame);

  // Removes and returns a record's frame; nullopt if it is not kept.
  [[nodiscard]] std::optional<std::vector<std::byte>> Take(std::int64_t record);

  [[nodiscard]] std::int64_t bytes() const;

 private:
  struct Entry {
    std::vector<std::byte> frame;
    std::int64_t age = 0;  // place in the order of all kept records
  };
  // The order of Keep() calls; places of taken records are skipped.
  struct Place {
    std::int64_t record = 0;
    std::int64_t age = 0;
  };
  void DropOldest();

  const std::int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::unordered_map<std::int64_t, Entry> entries_;
  std::deque<Place> order_;
  std::int64_t bytes_ = 0;
  std::int64_t age_ = 0;
};

// The access pattern of a read, which decides the cost in compressed shards.
enum class Access {
  kInOrder,  // forward through the shard, near other records being read
  kApart,    // a single record at any place
};

// Reads records of one compressed shard by their numbers in the shard. There is
// no random access: all records before a record must be unpacked.
//
// Reads in order use a cursor that moves forward; records that it skips are
// kept for later reads. Reading a record that the cursor has passed and that
// was not kept starts again at the shard's begin. There are two cursors, since
// the end of an epoch and the start of the next are read at the same time; a
// cursor that has read the last record is dropped. A read with kApart has its
// own cursor, which does not disturb the others.
//
// Damage ends a stream: all records from there on are lost; this is detected
// once and remembered. Thread-safe; reads in order wait for each other. Throws
// DataError for records that are lost, with their origin, and IoError when the
// shard cannot be opened or its store fails.
class PackedShard {
 public:
  using Open = std::function<std::shared_ptr<const ByteSource>()>;

  // The index and `passed` must outlive it. first_record is the number of the
  // shard's first record in the index; near_records as in PackedStoreOptions.
  PackedShard(const RecordIndex& index, std::int64_t first_record,
              std::int64_t records, std::int64_t near_records,
              PassedRecords& passed, Open open);
  ~PackedShard();
  PackedShard(const PackedShard&) = delete;
  PackedShard& operator=(const PackedShard&) = delete;

  // Reads a record's frame into buffer and returns its bytes. Requires: the
  // record is in the shard.
  [[nodiscard]] std::size_t Read(std::int64_t record, Access access,
                                 std::vector<std::byte>& buffer);

  // Drops the cursors, unless they are in use.
  void Close();

  // How often reading started again at the shard's begin for a record that a
  // cursor had passed.
  [[nodiscard]] std::int64_t restarts() const { return restarts_.load(); }

 private:
  class Cursor;
  // The first lost record, by its number in the index, and the reason.
  struct Loss {
    std::int64_t first = 0;
    std::string reason;
  };

  [[nodiscard]] std::unique_ptr<Cursor>& CursorFor(std::int64_t record);
  [[nodiscard]] std::size_t ReadInOrder(std::int64_t record,
                                        std::vector<std::byte>& buffer);
  [[nodiscard]] std::size_t Unpack(Cursor& cursor, std::int64_t record,
                                   std::int64_t keep_from,
                                   std::vector<std::byte>& buffer);
  void CheckNotLost(std::int64_t record) const;
  [[noreturn]] void Lose(std::int64_t first, const std::string& reason,
                         std::int64_t record);

  const RecordIndex& index_;
  const std::int64_t first_record_;
  const std::int64_t end_record_;
  const std::int64_t near_records_;
  PassedRecords& passed_;
  const Open open_;
  std::mutex mutex_;  // guards the cursors, most recently used first
  std::array<std::unique_ptr<Cursor>, 2> cursors_;
  std::atomic<std::int64_t> restarts_{0};
  mutable std::mutex loss_mutex_;
  std::optional<Loss> loss_;
};

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
