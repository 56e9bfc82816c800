#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/shards/plan.h"

namespace infeed {

// How a sequence of records is cut into shards.
struct ShardCut {
  enum class Kind {
    kAuto,         // shards of about 128 MB
    kShards,       // a number of shards, none empty
    kShardBytes,   // shards of about a number of bytes
    kRecordsEach,  // a number of records each; the last may have fewer
    kBytesEach,    // at most a number of bytes each, except single records
  };
  Kind kind = Kind::kAuto;
  std::int64_t value = 0;
  // Make shards of equal bytes, not of equal numbers of records.
  bool balance_bytes = false;
};

// Parses the value of --shards, as ParseShardsFlag() does.
[[nodiscard]] ShardCut ParseShardCut(const std::string& text);

// Returns the parts of a sequence, in order. None is empty, except a single
// part if there is no record. frame_bytes returns a record's bytes by its place
// in the sequence.
[[nodiscard]] std::vector<ShardRange> CutIntoShards(
    std::int64_t records,
    const std::function<std::int64_t(std::int64_t)>& frame_bytes,
    const ShardCut& cut);

}  // namespace infeed
