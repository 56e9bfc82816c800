#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "records/bytes/mapped_file.h"
#include "records/store/record_index.h"

namespace infeed {

// Notes which mapped shards are in memory as far as is known, so that
// announcing their records to the page cache would only cost time: as many
// bytes as the shard has were announced, and since then the process did not
// have to wait for a page. Thread-safe.
class ResidentShards {
 public:
  explicit ResidentShards(std::size_t shards) : announced_(shards) {}

  // Pages that the process had to wait for since it began (ru_majflt). If there
  // are more than before, no shard counts as in memory any longer.
  void NoteMajorFaults(std::int64_t faults) {
    if (faults_.exchange(faults) != faults) {
      for (std::atomic<std::int64_t>& bytes : announced_) {
        bytes = 0;
      }
    }
  }

  // Returns whether a shard is in memory; else counts bytes of it that are to
  // be announced.
  [[nodiscard]] bool Has(std::size_t shard, std::int64_t bytes,
                         std::int64_t shard_bytes) {
    return announced_[shard].fetch_add(bytes) >= shard_bytes;
  }

 private:
  std::atomic<std::int64_t> faults_{0};
  std::vector<std::atomic<std::int64_t>> announced_;
};

// The mappings of an index's uncompressed TFRecord files, each made on first
// use and kept. The index must outlive it. Thread-safe. Does not fail: what
// cannot be mapped is read.
class MappedShards {
 public:
  explicit MappedShards(const RecordIndex& index);

  // Returns the shard's mapping; null: it has none, or it has lost bytes.
  // Requires: the shard is not compressed.
  [[nodiscard]] const MappedFile* Find(std::int32_t shard);

  // Begins a round of announcements: notes whether the process had to wait for
  // pages since the last one (ResidentShards).
  void BeginRound();
  // Whether a record that is to be announced is in memory as far as is known.
  [[nodiscard]] bool IsResident(const RecordLocation& location);

 private:
  struct Shard {
    std::once_flag once;
    std::unique_ptr<const MappedFile> file;  // null: it is read
  };

  const RecordIndex& index_;
  std::vector<Shard> shards_;
  ResidentShards resident_;
};

}  // namespace infeed
