#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/bytes/byte_source.h"
#include "records/store/passed_records.h"
#include "records/store/record_index.h"

namespace infeed {

// How a record is asked for: of compressed shards, all the difference.
enum class Access {
  kInOrder,  // forward through its shard, near others that are asked for
  kApart,    // alone, wherever it lies
};

// The records of one compressed shard, by their numbers in the shard. Without
// random access there is one way to a record: unpacking all before it.
//
// What is asked for in order is read by a cursor, which goes forward; records
// that it passes over are kept for those who ask for them next. A record behind
// it that was not kept begins the shard anew. There are two cursors, since the
// end of an epoch and the beginning of the next are asked for side by side; one
// that has read the last record is dropped. A record apart gets a cursor of its
// own, which disturbs nobody.
//
// Damage ends a stream: from there on all records are lost, which is found
// once and remembered. Thread-safe; those who ask in order wait for each other.
// Throws DataError for records that are lost, with their origin, and IoError
// when the shard cannot be opened or its store fails.
class PackedShard {
 public:
  using Open = std::function<std::shared_ptr<const ByteSource>()>;

  // The index and `passed` must outlive it. first_record is the index's number
  // of the shard's first; near_records as in PackedStoreOptions.
  PackedShard(const RecordIndex& index, std::int64_t first_record,
              std::int64_t records, std::int64_t near_records,
              PassedRecords& passed, Open open);
  ~PackedShard();
  PackedShard(const PackedShard&) = delete;
  PackedShard& operator=(const PackedShard&) = delete;

  // Reads a record's frame into buffer and returns its bytes. Requires: it is
  // in the shard.
  [[nodiscard]] std::size_t Read(std::int64_t record, Access access,
                                 std::vector<std::byte>& buffer);

  // Drops the cursors, unless they are in use.
  void Close();

  // How often the shard was begun anew for a record behind a cursor.
  [[nodiscard]] std::int64_t restarts() const { return restarts_.load(); }

 private:
  class Cursor;
  // From where on records are lost, by their numbers in the index, and why.
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
  std::mutex mutex_;  // of the cursors, the one used last first
  std::array<std::unique_ptr<Cursor>, 2> cursors_;
  std::atomic<std::int64_t> restarts_{0};
  mutable std::mutex loss_mutex_;
  std::optional<Loss> loss_;
};

}  // namespace infeed
