#include "tools/shard_progress.h"

#include "records/open_source.h"

namespace infeed {
namespace {

std::int64_t BytesOf(const std::vector<std::string>& paths) {
  std::int64_t bytes = 0;
  for (const std::string& path : paths) {
    bytes += OpenSource(path)->size();
  }
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
