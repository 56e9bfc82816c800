#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "records/byte_source.h"
#include "records/record_index.h"
#include "records/record_payload.h"

namespace infeed {

struct RecordStoreOptions {
  // Shards kept open at once, beside those that are being read; at least 1. An
  // object of a store that has no local copy takes no descriptor, and finding
  // it again a request: where all are such, all stay open.
  std::size_t max_open_shards = 256;
  bool verify_checksums = true;
};

// Reads any record of an indexed set of shards with one positioned read.
//
// The index must outlive the store. Thread-safe. Throws DataError, with file,
// record and byte offset, when the frame at that place fails a checksum, has
// another length than the index says, or is cut short; IoError when a shard
// cannot be read.
class RecordStore {
 public:
  explicit RecordStore(const RecordIndex& index,
                       const RecordStoreOptions& options = {});

  // Reads a record into buffer, which grows as needed and is meant to be used
  // again, and returns its payload, a view into buffer.
  // Requires: 0 <= record < index.size().
  [[nodiscard]] std::span<const std::byte> Read(
      std::int64_t record, std::vector<std::byte>& buffer) const;
  // The same, with the payload's checksum.
  [[nodiscard]] RecordPayload ReadPayload(std::int64_t record,
                                          std::vector<std::byte>& buffer) const;

  // Says that Read() will be asked for this record soon. In a shard in the
  // cloud it is then on its way, as far as cloud_settings() allow; files are
  // near enough. Never fails: what is wrong shows when the record is read.
  void WillRead(std::int64_t record) const;

  // What ReadMany() hands out: place is that of the record in its list. The
  // payload is valid until the function returns.
  using OnRecord = std::function<void(std::size_t place,
                                      std::span<const std::byte> payload)>;
  // Says that a record is bad; the others come all the same.
  using OnBadRecord =
      std::function<void(std::size_t place, const DataError& error)>;

  // Reads several records, those that lie near each other with one read
  // (read_plan.h), and hands each out, in the order of their places on disk.
  // Takes memory for one such read. Requires: each is in the index.
  void ReadMany(std::span<const std::int64_t> records,
                const OnRecord& on_record, const OnBadRecord& on_bad) const;

  // Where a record is, for messages.
  [[nodiscard]] DataError::Origin OriginOf(std::int64_t record) const;

 private:
  using OpenList = std::list<std::int32_t>;
  struct OpenShard {
    std::shared_ptr<const ByteSource> source;
    OpenList::iterator use;
  };
  std::shared_ptr<const ByteSource> Open(std::int32_t shard) const;
  RecordPayload PayloadOf(std::span<const std::byte> frame,
                          const RecordLocation& location,
                          const ByteSource& source) const;

  const RecordIndex& index_;
  RecordStoreOptions options_;
  bool any_in_cloud_;
  // The open shards, the most recently used first.
  mutable std::mutex mutex_;
  mutable OpenList uses_;
  mutable std::unordered_map<std::int32_t, OpenShard> open_;
};

}  // namespace infeed
