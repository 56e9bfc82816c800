#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// The value of --shards: a number of shards, or their largest size.
struct ShardsFlag {
  std::int64_t shards = 0;  // 0: not given
  std::int64_t bytes = 0;   // 0: not given
};

// Parses "auto" (neither), "64" or a size with its unit, such as "256MB"
// (records/bytes/byte_size.h). Throws UsageError.
[[nodiscard]] ShardsFlag ParseShards(const std::string& text);

}  // namespace infeed
