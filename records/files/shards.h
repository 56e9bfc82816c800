#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/shard_set.h"

// Builds and recognises the names of shard files.
namespace infeed {

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

// Resolves a user's data specification to files, without duplicates. spec is a
// comma-separated list of files, folders, glob patterns ("DIR/train-*") and
// names with braces, which stand for a list ("DIR/{000..099}.tar"). Files are
// in the list's order, those of a folder or a pattern by path. Folders and
// patterns give only files that record_files.h knows by name, so side files are
// never read as shards; a folder gives its shards, also those in its folders
// named as splits are, and where it has none its other files of records. A
// single file may have any name. All parts may be URLs, such as
// s3://BUCKET/DATA/train-*; for http(s):// each shard must be named. Throws
// IoError that names the part that is missing or matches nothing, UsageError
// for a command ("pipe:...").
//
// Folders and patterns should give complete sets: on_faults receives what they
// lack, for a pattern only the shards that would match it.
[[nodiscard]] std::vector<std::string> ListShards(
    std::string_view spec, const OnShardSetFaults& on_faults = RefuseFaults);
// Lists the shards of several paths, such as those of DataPaths().
[[nodiscard]] std::vector<std::string> ListShardsOf(
    const std::vector<std::string>& paths,
    const OnShardSetFaults& on_faults = RefuseFaults);

// The shards of one split (any of its names, split_names.h) in a data set's
// folder: DIR/SPLIT-* or DIR/SPLIT/SPLIT-*, of whatever name. data_dir may be a
// URL of s3 or gs. Empty when there are none. Throws IoError when data_dir is
// not a folder that can be read, UsageError as RefuseTwoNames(). on_faults
// receives what the split lacks.
[[nodiscard]] std::vector<std::string> FindSplit(
    const std::string& data_dir, std::string_view split,
    const OnShardSetFaults& on_faults = RefuseFaults);

// The files of records of one split that are no shards by name, as others make
// them (record_files.h): those in DIR/SPLIT, and those in DIR whose names say
// the split. A file in DIR whose name says none is train's; a zip or a tar is
// of any split, as it may hold a folder for each. sizes receives those of
// objects in a store.
[[nodiscard]] std::vector<std::string> FindSplitFiles(
    const std::string& data_dir, std::string_view split,
    ObjectSizes* sizes = nullptr);

// Throws UsageError if the files of a split, below a data set's folder, have it
// under two names: val/ and valid/, val-* and validation-*, val.tar and
// dev.tar. They would be the same records twice, or of two conversions.
void RefuseTwoNames(const std::string& data_dir, std::string_view split,
                    const std::vector<std::string>& files);

}  // namespace infeed
