#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "records/store/record_index.h"

// What a run records of its training shards, so that a difference of its data
// has a shard's name.
namespace infeed {

// The name under which metrics.jsonl has them, in the event of a start.
inline constexpr std::string_view kShardIdentitiesKey = "data_shards";

// The training records' part of a recorded data_identity, as "train 1a2b,
// validation 3c4d"; "": there is none.
[[nodiscard]] std::string TrainIdentity(std::string_view identity);

// A hash of each shard's base name and its records' offsets and lengths, in the
// index's order: "1a2b3c4d 5e6f7a8b". Empty for image files, which are a shard
// each, and for more than 4096 shards.
[[nodiscard]] std::string ShardIdentities(const RecordIndex& index);

// The numbers of the shards that differ between two ShardIdentities(); none if
// they have another number of shards.
[[nodiscard]] std::vector<std::size_t> OtherShards(std::string_view a,
                                                   std::string_view b);

// How the shards differ from those of a recorded ShardIdentities(): "the shard
// train-00001-of-00008 is another one", "it has 7 shards, the run 8"; "": they
// do not, or nothing was recorded.
[[nodiscard]] std::string OtherShardsText(const RecordIndex& index,
                                          std::string_view recorded);

}  // namespace infeed
