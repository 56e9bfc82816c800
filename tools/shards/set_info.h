#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/tfrecord/writer.h"
#include "tools/shards/staged_folder.h"

// The dataset.json of shards that are made from other shards.
namespace infeed {

// Returns the classes of shards that become one data set, their first label,
// and the seed: what the dataset.json or labels.txt beside them say, or one
// folder up, if they are in train/, validation/ or test/; nullopt: neither is
// there. A first label that no dataset.json has follows from the labels
// (FindLabelOffset()), which are read; it is absent where damaged shards hide
// them. Throws UsageError where two of the shards' data sets give a label
// different names or count labels differently, DataError for a labels.txt with
// too few names, IoError.
[[nodiscard]] std::optional<DatasetInfo> CommonInfo(
    const std::vector<std::string>& shards);
// The same with OtherShardsIn() the folder in which new shards will be.
[[nodiscard]] std::optional<DatasetInfo> CommonInfo(
    std::vector<std::string> shards, const std::vector<std::string>& others);

// The shards in a folder and in its folders of splits whose classes a
// dataset.json in the folder would name, except for those in `gone`; empty if
// there is no folder.
[[nodiscard]] std::vector<std::string> OtherShardsIn(
    const std::string& folder, const std::vector<std::string>& gone);

// The dataset.json for the file at `path` into which shards are merged;
// nullopt: the folder's, if there is one, stays as it is. A folder of other
// files that lacks one gets none, as it would name their classes, too. Throws
// as CommonInfo(), also where what is in the folder gives the merged file other
// classes.
[[nodiscard]] std::optional<DatasetInfo> InfoForMerged(
    const std::vector<std::string>& shards, const std::string& path);

// A shard's entry in dataset.json. Requires: the writer is closed.
[[nodiscard]] DatasetInfo::Shard DescribeShard(const std::string& name,
                                               const TfrecordWriter& writer);

// Writes the dataset.json that appears together with these shards: the classes
// and the seed of `common`, and the shards by their prefixes; also a labels.txt
// for classes without the first one's label. Keeps the entries
// of the folder's older dataset.json, except those in `stale`, which are
// removed when the new shards appear.
void DescribeShards(const StagedFolder& folder, const DatasetInfo& common,
                    const std::vector<DatasetInfo::Shard>& shards,
                    const std::vector<std::string>& stale);

}  // namespace infeed
