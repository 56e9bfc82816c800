#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "records/store/record_index.h"
#include "records/store/seek_file.h"

namespace infeed {

// A JPEG's seek index that a decode found.
struct FoundSeekIndex {
  std::string_view sealed;  // seek_feature.h
  int new_rows = 0;         // rows of MCUs that it covers and none did before
  bool replaces = false;    // the index beside the shard is not the JPEG's
};

// The seek indexes that decoding finds: in memory until Save() or the
// destructor adds them to the seek files beside the shards (AddToSeekFile()),
// from which later epochs, other ranks and later runs read them.
//
// Indexes for which there is no room are dropped; they are found again. Where
// no file can be written, they stay in memory. The index and the store must
// outlive it. Thread-safe. Does not fail.
class FoundSeekIndexes {
 public:
  // limit_bytes: memory for indexes that are not in files yet.
  FoundSeekIndexes(const RecordIndex& index, SeekStore& store,
                   std::int64_t limit_bytes, std::string_view image_key);
  // Saves the indexes found since the last Save().
  ~FoundSeekIndexes();
  FoundSeekIndexes(const FoundSeekIndexes&) = delete;
  FoundSeekIndexes& operator=(const FoundSeekIndexes&) = delete;

  // Returns a record's sealed index if it is in memory, a view into buffer,
  // which grows as needed; else empty. Requires: 0 <= record < index.size().
  [[nodiscard]] std::span<const std::byte> Find(
      std::int64_t record, std::vector<std::byte>& buffer) const;

  // Keeps a copy of a record's index. Requires: as Find().
  void Keep(std::int64_t record, const FoundSeekIndex& found);

  // Starts to write, in a thread of its own, the files of shards of which
  // enough was found; returns at once.
  void Save();

  // Why files cannot be written; empty: they can.
  [[nodiscard]] std::string write_error() const;

 private:
  struct Entry;
  // The indexes found for a shard, in rows of MCUs.
  struct Shard {
    std::atomic<std::int64_t> rows{0};      // by this object
    std::atomic<std::int64_t> new_rows{0};  // of those, not in the file
  };
  static constexpr std::size_t kStripes = 64;

  [[nodiscard]] std::size_t ShardOf(std::int64_t record) const;
  [[nodiscard]] std::mutex& MutexOf(std::int64_t record) const {
    return stripes_[static_cast<std::size_t>(record) % kStripes];
  }
  void SaveWhenAsked(const std::stop_token& stop);
  // Writes the files of all shards with enough new rows.
  void SaveShards(const std::stop_token& stop);
  void SaveShard(std::size_t shard);
  // Forgets the indexes of a shard that are still the ones of these sizes.
  void Forget(std::int64_t first, const std::vector<std::uint32_t>& sizes);

  const RecordIndex& index_;
  SeekStore& store_;
  const std::int64_t limit_;
  const std::string image_key_;
  std::vector<std::int64_t> first_records_;  // of each shard, and size()
  std::vector<Shard> shards_;                // one of all images
  mutable std::array<std::mutex, kStripes> stripes_;  // of entries_
  std::vector<std::unique_ptr<Entry>> entries_;       // by record
  std::atomic<std::int64_t> bytes_{0};                // of entries
  std::atomic<bool> can_write_{true};
  mutable std::mutex mutex_;  // of the members below
  std::condition_variable_any asked_;
  bool is_asked_ = false;
  std::string write_error_;
  std::jthread saver_;  // the last member: it uses the others
};

}  // namespace infeed
