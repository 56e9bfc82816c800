#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/charts/progress.h"
#include "records/bytes/byte_source.h"
#include "tools/cli/signals.h"
#include "tools/shards/record_pass.h"

namespace infeed {

struct ReadProgressState {
  std::int64_t bytes = 0;
  std::int64_t total_bytes = 0;
  std::int64_t records = 0;
  double seconds = 0;  // since the start
};

// "1.2 GB of 4.0 GB  30 %  512.0 MB/s  12345 records  ETA 5s".
[[nodiscard]] std::string ReadProgressText(const ReadProgressState& state);

// Shows the progress of a pass over files on stderr, unless it is short.
// Thread-safe.
class ReadProgress {
 public:
  explicit ReadProgress(std::int64_t total_bytes);
  ~ReadProgress();  // Clears the line.
  ReadProgress(const ReadProgress&) = delete;
  ReadProgress& operator=(const ReadProgress&) = delete;

  void Add(std::int64_t bytes, std::int64_t records);

 private:
  std::mutex mutex_;
  ReadProgressState state_;
  ProgressLine line_;
};

// Wraps another source: reports how far it has been read, and computes the
// checksum of the whole, without a second pass if it is read in order.
//
// Owns the other source. Const members may be called from several threads at
// once; others need one thread at a time. Throws what the other one throws.
class TrackedSource final : public ByteSource {
 public:
  // Calls on_progress(bytes) with the bytes by which a read went beyond all
  // earlier reads.
  TrackedSource(std::unique_ptr<ByteSource> source,
                std::function<void(std::int64_t bytes)> on_progress);

  [[nodiscard]] std::size_t ReadAt(
      std::int64_t offset, std::span<std::byte> destination) const override;
  void WillRead(std::int64_t offset, std::int64_t bytes) const override {
    source_->WillRead(offset, bytes);
  }

  // CRC-32C of all bytes; reads the bytes that were not read in order.
  [[nodiscard]] std::uint32_t Checksum() const;

 private:
  void Note(std::int64_t offset, std::span<const std::byte> bytes) const;

  std::unique_ptr<ByteSource> source_;
  std::function<void(std::int64_t)> on_progress_;
  mutable std::mutex mutex_;
  mutable std::int64_t furthest_ = 0;  // end of the reads, gaps included
  mutable std::int64_t summed_ = 0;    // bytes in the checksum
  mutable std::uint32_t crc_ = 0;
};

// Shows the progress of a pass over shards on stderr, by the bytes read from
// their files. The sources that it opens may be used by several threads at
// once, and must not outlive it. Thread-safe. Throws IoError for a shard that
// cannot be opened.
class ShardProgress {
 public:
  // Gets the sizes of the shards. `paths` must outlive this object.
  explicit ShardProgress(const std::vector<std::string>& paths);

  // Opens a shard whose reading is shown.
  [[nodiscard]] std::unique_ptr<TrackedSource> Open(std::size_t shard);
  // Open() as a function.
  [[nodiscard]] ShardOpener Opener() {
    return [this](std::size_t shard) { return Open(shard); };
  }

  // Counts processed records.
  void AddRecords(std::int64_t records) { progress_.Add(0, records); }

  // A function that counts a record; throws Interruption::Check()'s error.
  [[nodiscard]] std::function<void()> Counter(const Interruption& interruption);

  // The options of a pass whose progress is shown.
  [[nodiscard]] RecordPassOptions Options() {
    return {.open = Opener(),
            .visited = [this](std::int64_t records) { AddRecords(records); }};
  }

 private:
  const std::vector<std::string>& paths_;
  ReadProgress progress_;
};

}  // namespace infeed
