#include "tools/shards/plan.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/rounding.h"

namespace infeed {
namespace {

constexpr std::int64_t kShardBytes = 128'000'000;
constexpr std::int64_t kMinShards = 8;

}  // namespace

std::int64_t AutoShardCount(std::int64_t images, std::int64_t bytes) {
  return std::min(images, std::max(kMinShards, CeilDiv(bytes, kShardBytes)));
}

std::int64_t ShardCountBySize(std::int64_t images, std::int64_t bytes,
                              std::int64_t shard_bytes) {
  return std::min(images,
                  std::max(std::int64_t{1}, CeilDiv(bytes, shard_bytes)));
}

std::vector<ShardRange> BalancedShards(std::int64_t images,
                                       std::int64_t shards) {
  Check(images >= 0 && shards > 0, "a split has shards");
  const std::int64_t count = std::min(images, shards);
  std::vector<ShardRange> ranges;
  ranges.reserve(static_cast<std::size_t>(count));
  std::int64_t first = 0;
  for (std::int64_t shard = 0; shard < count; ++shard) {
    const std::int64_t size = images / count + (shard < images % count ? 1 : 0);
    ranges.push_back({first, size});
    first += size;
  }
  return ranges;
}

std::vector<ShardRange> ReferenceShards(std::int64_t images,
                                        std::int64_t shards) {
  Check(images >= 0 && shards > 0, "a split has shards");
  const std::int64_t chunk = CeilDiv(images, shards);
  std::vector<ShardRange> ranges;
  ranges.reserve(static_cast<std::size_t>(shards));
  for (std::int64_t shard = 0; shard < shards; ++shard) {
    const std::int64_t first = std::min(shard * chunk, images);
    ranges.push_back({first, std::min(chunk, images - first)});
  }
  return ranges;
}

}  // namespace infeed
