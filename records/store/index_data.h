#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "records/files/shard_set.h"
#include "records/store/record_index.h"

// Data as people have it: what a user names becomes an index of records. What
// kind of data it is follows from what is there, never from a flag.
namespace infeed {

// Whether data is a folder, not files or patterns. A URL is one unless its last
// part is the name of a file of records, or a pattern.
[[nodiscard]] bool IsDataFolder(const std::string& data);

// Whether data is a folder of class folders, without shards.
[[nodiscard]] bool IsImageFolder(const std::string& data);

struct DataOptions {
  OnShardSetFaults on_faults = RefuseFaults;  // for sets of shards
  bool use_cache = true;                      // RecordIndexOptions::use_cache
  // For a reader that takes the classes of several data sets by name: whether
  // they may number these differently.
  bool takes_any_numbering = false;
  // Whether a list may name a file twice, so that its records repeat.
  bool takes_files_twice = false;
};

// Returns the records of one split (any name of split_names.h; "": all) of a
// data set; nullopt when it has none. `data` is one of these, the first that
// fits:
//
//   a folder with shards of the split: DIR/train-00000-of-00008 (FindSplit())
//   a folder of class folders (image_tree.h): its image files
//   a folder with other files of records: DIR/train/*.tar, DIR/a-train-*.tar,
//     DIR/*.tfrec (FindSplitFiles())
//   files, patterns, names with braces, lists of these and of folders, in the
//     order of ListShards(): those whose names, or folders if these differ,
//     name no other split; in an archive with a tree of images, the split's
//     folder
//
// All may be URLs. The records of image folders, and of archives of such, have
// the labels 1, 2, ..., classes being numbered in the order of their names
// (class_names()). Throws IoError, UsageError for data of no known kind, for a
// name that is no split's, for a list that names a file twice, and for data
// sets that number their classes differently (RequireOneNumbering()),
// DataError.
[[nodiscard]] std::optional<RecordIndex> IndexSplit(
    const std::string& data, std::string_view split,
    const DataOptions& options = {});

// Like IndexSplit(), but a missing split is a UsageError that names the splits
// found. Records without a split, in files without one in their names, belong
// to every split.
[[nodiscard]] RecordIndex IndexSplitThatIsThere(
    const std::string& data, std::string_view split,
    const DataOptions& options = {});

// The split to read where the user names none: `split`, one of kSplits, or, if
// data is one file, by its path or URL, that has none of it, the split that the
// file's name says. Throws as IndexSplit().
[[nodiscard]] std::string DefaultSplit(const std::string& data,
                                       std::string_view split);

// The message for a split that is not there. Requires: split is one of kSplits.
[[nodiscard]] std::string MissingSplitText(const std::string& data,
                                           std::string_view split);

// Returns all records of what ListShards() takes, which lists each file once,
// or of a folder of class folders. Throws as IndexSplit() for other faults.
[[nodiscard]] RecordIndex IndexData(const std::string& data,
                                    const DataOptions& options = {});

}  // namespace infeed
