#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/tfrecord/writer.h"
#include "tools/shards/staged_folder.h"

// The dataset.json of shards that are made from other shards.
namespace infeed {

// Returns the classes, their first label and the seed in the dataset.json
// beside these shards (or one folder up, if they are in train/, validation/ or
// test/); nullopt: none. Throws UsageError when two of these files name
// different classes: a label would then be ambiguous.
[[nodiscard]] std::optional<DatasetInfo> CommonInfo(
    const std::vector<std::string>& inputs);

// A shard's entry in dataset.json. Requires: the writer is closed.
[[nodiscard]] DatasetInfo::Shard DescribeShard(const std::string& name,
                                               const TfrecordWriter& writer);

// Writes the dataset.json that appears together with these shards: the classes
// and the seed of `common`, and the shards by their prefixes. Keeps the entries
// of the folder's older dataset.json, except those in `stale`, which are
// removed when the new shards appear.
void DescribeShards(const StagedFolder& folder, const DatasetInfo& common,
                    const std::vector<DatasetInfo::Shard>& shards,
                    const std::vector<std::string>& stale);

}  // namespace infeed
