#include "tools/shards/plan.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/rounding.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/whole_number.h"

namespace infeed {
namespace {

constexpr std::int64_t kShardBytes = 128'000'000;
constexpr std::int64_t kMinShards = 8;

}  // namespace

ShardsFlag ParseShardsFlag(const std::string& text) {
  if (text == "auto") {
    return {};
  }
  if (const auto number = ParseWholeNumber<std::int64_t>(text)) {
    if (*number > 0) {
      return {.number = *number};
    }
  } else if (const auto bytes = TryParseByteSize(text)) {
    return {.bytes = *bytes};
  }
  throw UsageError("--shards " + text +
                   ": give a number above 0, a size such as 256MB or 1GiB, "
                   "or auto");
}

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
