#include "tools/shards/progress.h"

#include <atomic>

#include "records/files/open_source.h"
#include "tools/cli/parallel_for.h"

namespace infeed {
namespace {

// Each object costs a round trip to its store.
constexpr int kOpenAtOnce = 16;

std::int64_t BytesOf(const std::vector<std::string>& paths) {
  std::atomic<std::int64_t> bytes = 0;
  ParallelFor(paths.size(), kOpenAtOnce,
              [&](std::size_t i) { bytes += OpenSource(paths[i])->size(); });
  return bytes;
}

}  // namespace

ShardProgress::ShardProgress(const std::vector<std::string>& paths)
    : paths_(paths), progress_(BytesOf(paths)) {}

std::unique_ptr<TrackedSource> ShardProgress::Open(std::size_t shard) {
  return std::make_unique<TrackedSource>(
      OpenSource(paths_[shard]),
      [this](std::int64_t bytes) { progress_.Add(bytes, 0); });
}

std::function<std::unique_ptr<ByteSource>(std::size_t shard)>
ShardProgress::Opener() {
  return [this](std::size_t shard) { return Open(shard); };
}

RecordPassOptions ShardProgress::Options() {
  return {.open = Opener(),
          .visited = [this](std::int64_t records) { AddRecords(records); }};
}

}  // namespace infeed
