#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/shard_set.h"

// Builds and recognises the names of shard files.
namespace infeed {

// The splits that a data set's folder may have folders for.
inline constexpr std::array<std::string_view, 3> kSplits = {
    "train", "validation", "test"};

// "train", 3, 8 -> "train-00003-of-00008".
[[nodiscard]] std::string ShardName(std::string_view prefix,
                                    std::int64_t number, std::int64_t count);

// The parts of a shard's base name, without ".gz", as views into it.
struct ShardNameParts {
  std::string_view prefix = {};
  std::string_view number = {};  // digits
  std::string_view count = {};
};
[[nodiscard]] std::optional<ShardNameParts> ParseShardName(
    std::string_view base_name);

// Whether a base name ends in "-NNNNN-of-NNNNN" (or that and ".gz").
[[nodiscard]] bool IsShardName(std::string_view base_name);

// "train" of "train-00003-of-00008" (or that and ".gz"); "" if it is not a
// shard's name.
[[nodiscard]] std::string_view ShardPrefix(std::string_view base_name);

// Resolves a user's data specification to files, sorted by path, without
// duplicates. spec is a comma-separated list of files, folders and glob
// patterns ("DIR/train-*"). Folders and patterns give only files with shard
// names, so side files are never read as shards; a folder also gives the shards
// in its train/, validation/ and test/ folders. A single file may have any
// name. All parts may be URLs, such as s3://BUCKET/DATA/train-*; for http(s)://
// each shard must be named. Throws IoError that names the part that is missing
// or matches nothing.
//
// Folders and patterns should give complete sets: on_faults receives what they
// lack, for a pattern only the shards that would match it.
[[nodiscard]] std::vector<std::string> ListShards(
    std::string_view spec, const OnShardSetFaults& on_faults = RefuseFaults);

// The shards of one split ("train", "validation", "test"; "val" finds
// "validation" too) in a data set's folder: DIR/SPLIT-* or DIR/SPLIT/SPLIT-*.
// data_dir may be a URL of s3 or gs. Empty when there are none. Throws IoError
// when data_dir is not a folder that can be read. on_faults receives what the
// split lacks.
[[nodiscard]] std::vector<std::string> FindSplit(
    const std::string& data_dir, std::string_view split,
    const OnShardSetFaults& on_faults = RefuseFaults);

}  // namespace infeed
