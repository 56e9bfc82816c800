#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// What --shards says: a number of shards, or how large they may be.
struct ShardsFlag {
  std::int64_t shards = 0;  // 0: not given
  std::int64_t bytes = 0;   // 0: not given
};

// Parses "auto" (neither), "64" or "256MB": a whole number of kB, MB, GB, TB
// (powers of 1000) or KiB, MiB, GiB, TiB (of 1024). Throws UsageError.
[[nodiscard]] ShardsFlag ParseShards(const std::string& text);

}  // namespace infeed
