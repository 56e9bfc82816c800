#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/dataset_info.h"
#include "records/tfrecord_writer.h"

// What dataset.json says when shards are made from other shards.
namespace infeed {

// Returns the classes and the seed that the dataset.json beside these shards
// says (or one folder up, where they lie in train/, validation/ or test/);
// nullopt when there is none. Throws UsageError when two of them name different
// classes: a label would mean two things.
[[nodiscard]] std::optional<DatasetInfo> CommonInfo(
    const std::vector<std::string>& inputs);

// What dataset.json says of a shard. Requires: the writer is closed.
[[nodiscard]] DatasetInfo::Shard DescribeShard(const std::string& name,
                                               const TfrecordWriter& writer);

// Writes FOLDER/dataset.json: the classes and the seed of `common` and these
// shards, by their prefixes. Shards of the folder that an older one describes
// are kept in it where they are still there.
void DescribeShards(const std::string& folder, const DatasetInfo& common,
                    const std::vector<DatasetInfo::Shard>& shards);

}  // namespace infeed
