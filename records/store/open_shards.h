#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "records/bytes/byte_source.h"
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
    // The file once it is there: asked for with each record, and a once_flag
    // costs more than this.
    std::atomic<const MappedFile*> mapped = nullptr;
  };

  [[nodiscard]] const MappedFile* Map(std::size_t shard);

  const RecordIndex& index_;
  std::vector<Shard> shards_;
  ResidentShards resident_;
};

// Returns the local shards whose files have had another size or modification
// time since they were indexed; image files have none of their own. Of an
// object that was replaced OpenShards throws.
[[nodiscard]] std::vector<std::string> FindChangedShards(
    const RecordIndex& index);

// The shards of an index that are open for reading. Beyond the limit, or at the
// process's limit of open files, the least recently used ones are closed.
//
// Owns the sources together with their readers: a source that is dropped here
// is closed by its last reader. The index must outlive it. Thread-safe. Throws
// IoError when a shard cannot be opened, or is an object that was replaced
// since it was indexed: its records are not where the index says.
class OpenShards {
 public:
  // Throws UsageError if max_open is 0. The limit does not apply if all shards
  // are objects without a local copy: these need no file descriptor, and
  // opening one again costs a request.
  OpenShards(const RecordIndex& index, std::size_t max_open);

  // Returns the source of index.shards()[shard].
  [[nodiscard]] std::shared_ptr<const ByteSource> Open(std::int32_t shard);

 private:
  using Uses = std::list<std::int32_t>;
  struct Entry {
    std::shared_ptr<const ByteSource> source;
    Uses::iterator use;
  };

  std::shared_ptr<const ByteSource> OpenAnew(std::int32_t shard);
  void DropOldest();

  const RecordIndex& index_;
  const std::size_t max_open_;
  std::mutex mutex_;  // of the members below
  Uses uses_;         // the most recent first
  std::unordered_map<std::int32_t, Entry> open_;
};

}  // namespace infeed
