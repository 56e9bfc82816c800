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

// How many bytes the index of a record's JPEG may have, of which one with every
// 4th MCU takes a third: what a damaged file can make anybody allocate.
[[nodiscard]] constexpr std::int64_t LongestSeekIndex(
    std::int64_t payload_bytes) {
  return payload_bytes / 8 + 4096;
}

// The seek indexes that lie beside an indexed set of shards, for records that
// hold none themselves. A shard's file is looked for when the first of its
// records is asked for; at most max_open are open at once.
//
// The index must outlive the store. Thread-safe. Does not fail: what cannot be
// read is as good as none.
class SeekStore {
 public:
  // Requires: max_open > 0.
  explicit SeekStore(const RecordIndex& index, std::size_t max_open = 256);

  // Returns a record's sealed index (seek_feature.h), a view into buffer, which
  // grows as needed; empty: there is none. Requires: 0 <= record <
  // index.size().
  [[nodiscard]] std::span<const std::byte> Read(
      std::int64_t record, std::vector<std::byte>& buffer) const;

 private:
  struct Place {
    bool is_missing = false;               // was looked for, and is not there
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
