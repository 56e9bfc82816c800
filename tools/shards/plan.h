#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The number of shards of a split, and the images of each shard.
namespace infeed {

// The consecutive images of a split that form one shard.
struct ShardRange {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend bool operator==(const ShardRange&, const ShardRange&) = default;
};

// The value of --shards: a number of shards, or their largest size; "auto" is
// neither.
struct ShardsFlag {
  std::int64_t number = 0;  // 0: not given
  std::int64_t bytes = 0;   // 0: not given
};

// Parses "auto", "64" or a size with its unit, such as "256MB"
// (records/bytes/byte_size.h). Throws UsageError.
[[nodiscard]] ShardsFlag ParseShardsFlag(const std::string& text);

// Returns the number of shards of about 128 MB for `bytes`: at least 8, so that
// several readers can share them, and at most one per image. 0 for no images.
// Requires: both >= 0.
[[nodiscard]] std::int64_t AutoShardCount(std::int64_t images,
                                          std::int64_t bytes);

// Returns the number of shards of at most about shard_bytes, at least one and
// at most one per image. Requires: images, bytes >= 0; shard_bytes > 0.
[[nodiscard]] std::int64_t ShardCountBySize(std::int64_t images,
                                            std::int64_t bytes,
                                            std::int64_t shard_bytes);

// Splits images evenly: sizes differ by at most one, the larger shards come
// first. Makes at most one shard per image, so that none is empty. Requires:
// images >= 0, shards > 0.
[[nodiscard]] std::vector<ShardRange> BalancedShards(std::int64_t images,
                                                     std::int64_t shards);

// Splits images as the reference converter does: chunks of ceil(images /
// shards), so that the last shards may be short, or empty.
// Requires: images >= 0, shards > 0.
[[nodiscard]] std::vector<ShardRange> ReferenceShards(std::int64_t images,
                                                      std::int64_t shards);

}  // namespace infeed
