#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "tools/shards/read_progress.h"
#include "tools/shards/record_pass.h"
#include "tools/shards/tracked_source.h"

namespace infeed {

// The progress of a pass over shards, on stderr, from what is read of their
// files. The sources that it opens may be used by several threads at once, and
// must not outlive it. Thread-safe. Throws IoError for a shard that cannot be
// opened.
class ShardProgress {
 public:
  // Looks how large the shards are. `paths` must outlive it.
  explicit ShardProgress(const std::vector<std::string>& paths);

  // Opens a shard so that reading it shows.
  [[nodiscard]] std::unique_ptr<TrackedSource> Open(std::size_t shard);
  // The same as a function.
  [[nodiscard]] std::function<std::unique_ptr<ByteSource>(std::size_t shard)>
  Opener();

  // Counts records that were looked at.
  void AddRecords(std::int64_t records) { progress_.Add(0, records); }

  // The options of a pass that shows.
  [[nodiscard]] RecordPassOptions Options();

 private:
  const std::vector<std::string>& paths_;
  ReadProgress progress_;
};

}  // namespace infeed
