#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/tfrecord/writer.h"
#include "tools/shards/staged_folder.h"

// What dataset.json says when shards are made from other shards.
namespace infeed {

// Returns the classes, their first label and the seed in the dataset.json
// beside these shards (or one folder up, where they lie in train/, validation/
// or test/); nullopt when there is none. Throws UsageError when two of them
// name different classes: a label would mean two things.
[[nodiscard]] std::optional<DatasetInfo> CommonInfo(
    const std::vector<std::string>& inputs);

// What dataset.json says of a shard. Requires: the writer is closed.
[[nodiscard]] DatasetInfo::Shard DescribeShard(const std::string& name,
                                               const TfrecordWriter& writer);

// Writes the dataset.json that appears with these shards: the classes and the
// seed of `common` and the shards, by their prefixes. Shards that an older
// dataset.json of the folder describes are kept in it, but for those in
// `stale`, which go when the new ones appear.
void DescribeShards(const StagedFolder& folder, const DatasetInfo& common,
                    const std::vector<DatasetInfo::Shard>& shards,
                    const std::vector<std::string>& stale);

}  // namespace infeed
