#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/shard_set.h"

// The names of shard files: the one place that builds and recognises them.
namespace infeed {

// "train", 3, 8 -> "train-00003-of-00008".
[[nodiscard]] std::string ShardName(std::string_view prefix,
                                    std::int64_t number, std::int64_t count);

// A shard's base name taken apart, without ".gz": views into it.
struct ShardNameParts {
  std::string_view prefix = {};
  std::string_view number = {};  // digits
  std::string_view count = {};
};
[[nodiscard]] std::optional<ShardNameParts> ParseShardName(
    std::string_view base_name);

// Whether a base name ends in "-NNNNN-of-NNNNN" (or that and ".gz").
[[nodiscard]] bool IsShardName(std::string_view base_name);

// "train" of "train-00003-of-00008" (or that and ".gz"); "" when it is not the
// name of a shard.
[[nodiscard]] std::string_view ShardPrefix(std::string_view base_name);

// Resolves what a user names as data to files, sorted by path, each once.
// spec is a comma-separated list of files, folders and glob patterns
// ("DIR/train-*"). A folder or a pattern means shard names only, so side files
// are never read as shards; a folder also takes the shards in its train/,
// validation/ and test/ folders. A file that is named itself is taken as it
// is. All of this may be URLs: s3://BUCKET/DATA/train-*; of http(s):// each
// shard by its name. Throws IoError naming the part that is missing or matches
// nothing.
//
// Folders and patterns mean whole sets: on_faults gets what these lack, of a
// pattern only what would match.
[[nodiscard]] std::vector<std::string> ListShards(
    std::string_view spec, const OnShardSetFaults& on_faults = RefuseFaults);

// The shards of one split ("train", "validation", "test"; "val" finds
// "validation" too) in a data set's folder: DIR/SPLIT-* or DIR/SPLIT/SPLIT-*.
// data_dir may be a URL of s3 or gs. Empty when there are none. Throws IoError
// when data_dir is not a folder that can be read. on_faults gets what the split
// lacks.
[[nodiscard]] std::vector<std::string> FindSplit(
    const std::string& data_dir, std::string_view split,
    const OnShardSetFaults& on_faults = RefuseFaults);

}  // namespace infeed
