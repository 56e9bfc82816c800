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
    kShards,       // so many, none empty
    kShardBytes,   // as many as make shards of about so many bytes
    kRecordsEach,  // so many records each, the last may have fewer
    kBytesEach,    // so many bytes each at the most, but for single records
  };
  Kind kind = Kind::kAuto;
  std::int64_t value = 0;
  // Whether shards of equal bytes are made, not of equal numbers of records.
  bool balance_bytes = false;
};

// Takes "auto", "8" or "128MB". Throws UsageError naming the flag.
[[nodiscard]] ShardCut ParseShardCut(const std::string& text,
                                     const std::string& flag);

// Returns the parts of a sequence, in order, none of them empty unless there
// is no record at all: then one. frame_bytes tells what a record takes, by its
// place in the sequence.
[[nodiscard]] std::vector<ShardRange> CutIntoShards(
    std::int64_t records,
    const std::function<std::int64_t(std::int64_t)>& frame_bytes,
    const ShardCut& cut);

}  // namespace infeed
