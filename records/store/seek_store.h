#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "records/store/record_index.h"
#include "records/store/seek_file.h"

namespace infeed {

// Limit in bytes of the seek index of a record's JPEG, so that a damaged file
// cannot cause large allocations. An index with every 4th MCU takes a third of
// it.
[[nodiscard]] constexpr std::int64_t LongestSeekIndex(
    std::int64_t payload_bytes) {
  return payload_bytes / 8 + 4096;
}

// The seek indexes in files beside an indexed set of shards, for records
// without their own. A shard's file is looked up when the first of its records
// is requested; at most max_open files are open at once.
//
// The index must outlive the store. Thread-safe. Does not fail: an unreadable
// index counts as absent.
class SeekStore {
 public:
  // Requires: max_open > 0.
  explicit SeekStore(const RecordIndex& index, std::size_t max_open = 256);

  // Returns a record's sealed index (seek_feature.h), a view into buffer, which
  // grows as needed; empty if there is none. Requires: 0 <= record <
  // index.size().
  [[nodiscard]] std::span<const std::byte> Read(
      std::int64_t record, std::vector<std::byte>& buffer) const;

 private:
  struct Place {
    bool is_missing = false;               // looked up and not found
    std::shared_ptr<const SeekFile> file;  // while it is open
  };
  [[nodiscard]] std::shared_ptr<const SeekFile> Open(
      const RecordLocation& location, std::int64_t record) const;

  const RecordIndex& index_;
  std::size_t max_open_;
  mutable std::mutex mutex_;
  mutable std::vector<Place> places_;     // one for each shard
  mutable std::deque<std::size_t> open_;  // shards, in the order of opening
};

}  // namespace infeed
