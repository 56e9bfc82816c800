#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "records/store/image_tree.h"
#include "records/store/key_guess.h"

namespace infeed {

// Lists the images in files of records that IndexSplit() (index_data.h) takes:
// TFRecords, tars and zips, in folders or named by patterns. Reads every record
// once, for its name, its label and the size of its image.
//
// Labels keep their numbers: the first label (FindLabelOffset()) is class 0. A
// class is named by the zip's folders, by the dataset.json or labels.txt beside
// the shard, else by its label, with leading zeros; labels that do not occur
// have classes, too. If lists of names differ, classes are numbered by name,
// with a note. Images are sorted by "SHARD#NAME", bytewise. A bad record is
// listed, too: reading its image throws DataError.
//
// nullopt: there are no such files. keys: the user's keys (FindKeys()).
// threads: 0 is one per core. on_records: as in RecordImages::List(). Throws
// IoError, UsageError, and DataError for a record without a label, a label that
// dataset.json does not have, or data without a good record.
[[nodiscard]] std::optional<ImageTree> FindRecordImages(
    const std::string& data, const RecordKeys& keys, int threads,
    const std::function<void(std::int64_t)>& on_records);

}  // namespace infeed
