#include "tools/rewrite/shard_cut.h"

#include <algorithm>

#include "base/rounding.h"

namespace infeed {
namespace {

using FrameBytes = std::function<std::int64_t(std::int64_t)>;

std::int64_t TotalBytes(std::int64_t records, const FrameBytes& frame_bytes) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < records; ++i) {
    total += frame_bytes(i);
  }
  return total;
}

// Cuts at the records where the sum of bytes is closest to the goal.
std::vector<ShardRange> BalancedBytes(std::int64_t records, std::int64_t total,
                                      std::int64_t shards,
                                      const FrameBytes& frame_bytes) {
  const std::int64_t count = std::min(records, shards);
  std::vector<ShardRange> ranges;
  std::int64_t next = 0;
  std::int64_t done = 0;
  for (std::int64_t shard = 1; shard <= count; ++shard) {
    // total * shard / count, without overflow.
    const std::int64_t goal =
        total / count * shard + total % count * shard / count;
    const std::int64_t first = next;
    const std::int64_t last = records - (count - shard);  // One per shard.
    while (next < last && (next == first || shard == count ||
                           done + frame_bytes(next) / 2 < goal)) {
      done += frame_bytes(next++);
    }
    ranges.push_back({first, next - first});
  }
  return ranges;
}

std::vector<ShardRange> CutAtBytes(std::int64_t records, std::int64_t most,
                                   const FrameBytes& frame_bytes) {
  std::vector<ShardRange> ranges;
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < records; ++i) {
    const std::int64_t more = frame_bytes(i);
    if (ranges.empty() || bytes + more > most) {
      ranges.push_back({i, 0});
      bytes = 0;
    }
    ++ranges.back().count;
    bytes += more;
  }
  return ranges;
}

std::vector<ShardRange> Balanced(std::int64_t records,
                                 const FrameBytes& frame_bytes,
                                 const ShardCut& cut) {
  const bool is_number = cut.kind == ShardCut::Kind::kShards;
  const std::int64_t total =
      is_number && !cut.balance_bytes ? 0 : TotalBytes(records, frame_bytes);
  const std::int64_t shards = is_number ? cut.value
                              : cut.kind == ShardCut::Kind::kShardBytes
                                  ? CeilDiv(total, cut.value)
                                  : AutoShardCount(records, total);
  return cut.balance_bytes ? BalancedBytes(records, total, shards, frame_bytes)
                           : BalancedShards(records, shards);
}

std::vector<ShardRange> Cut(std::int64_t records, const FrameBytes& frame_bytes,
                            const ShardCut& cut) {
  switch (cut.kind) {
    case ShardCut::Kind::kAuto:
    case ShardCut::Kind::kShards:
    case ShardCut::Kind::kShardBytes:
      return Balanced(records, frame_bytes, cut);
    case ShardCut::Kind::kRecordsEach: {
      std::vector<ShardRange> ranges;
      for (std::int64_t i = 0; i < records; i += cut.value) {
        ranges.push_back({i, std::min(cut.value, records - i)});
      }
      return ranges;
    }
    case ShardCut::Kind::kBytesEach:
      return CutAtBytes(records, cut.value, frame_bytes);
  }
  return {};
}

}  // namespace

ShardCut ParseShardCut(const std::string& text) {
  const ShardsFlag flag = ParseShardsFlag(text);
  if (flag.number > 0) {
    return {.kind = ShardCut::Kind::kShards, .value = flag.number};
  }
  if (flag.bytes > 0) {
    return {.kind = ShardCut::Kind::kShardBytes, .value = flag.bytes};
  }
  return {};
}

std::vector<ShardRange> CutIntoShards(std::int64_t records,
                                      const FrameBytes& frame_bytes,
                                      const ShardCut& cut) {
  return records == 0 ? std::vector<ShardRange>{{0, 0}}
                      : Cut(records, frame_bytes, cut);
}

}  // namespace infeed
