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
  [[nodiscard]] std::function<std::unique_ptr<ByteSource>(std::size_t shard)>
  Opener();

  // Counts processed records.
  void AddRecords(std::int64_t records) { progress_.Add(0, records); }

  // The options of a pass whose progress is shown.
  [[nodiscard]] RecordPassOptions Options();

 private:
  const std::vector<std::string>& paths_;
  ReadProgress progress_;
};

}  // namespace infeed
