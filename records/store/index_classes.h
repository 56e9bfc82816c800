#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/store/record_index.h"

namespace infeed {

// The names of the classes of an index's records.
struct IndexClasses {
  std::vector<std::string> names = {};  // empty: not known
  // The label of the first name; nullopt: not known, as of a labels.txt.
  std::optional<int> first = {};
  // Whether all of the index's data sets have names, so that no label may be
  // without one.
  bool is_of_all = true;

  friend bool operator==(const IndexClasses&, const IndexClasses&) = default;
};

// FindDatasetInfo() and FindClassList(), but nothing where a server refuses the
// file: it may serve shards and refuse all other files.
[[nodiscard]] std::optional<DatasetInfo> InfoBeside(const std::string& shard);
[[nodiscard]] std::vector<std::string> NamesBeside(const std::string& shard);

// The classes of the dataset.json beside a shard, else of its labels.txt.
// Throws DataError for an invalid file, IoError for one that cannot be read.
[[nodiscard]] IndexClasses ClassesBeside(const std::string& shard);

// The same of the data sets of several shards, joined as by FindClasses().
[[nodiscard]] IndexClasses ClassesBeside(std::span<const std::string> shards);

// The names of image folders and archives (RecordIndex::class_names()), and of
// the data sets in which other shards lie (ClassesBeside()). Of several data
// sets each label has the name that any of them gives. Throws UsageError where
// two give a label different names, and as ClassesBeside().
[[nodiscard]] IndexClasses FindClasses(const RecordIndex& index);

// Throws as FindClasses() unless all records of the indexes, which are used as
// one data set, may have the same labels. Reads nothing if there is only one
// data set.
void RequireOneNumbering(std::span<const RecordIndex* const> indexes);
void RequireOneNumbering(const RecordIndex& index);

}  // namespace infeed
