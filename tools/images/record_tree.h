#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "records/store/image_tree.h"

namespace infeed {

// Lists the images in files of records that IndexSplit() (index_data.h) takes:
// TFRecords, tars and zips, in folders or named by patterns. Reads every record
// once, for its name, its label and the size of its image.
//
// A label's class is named by the zip's folders or by the dataset.json beside
// the shard, else it is the label's number, with leading zeros so that the
// order of names is that of numbers. Images are sorted by "SHARD#NAME",
// bytewise. A bad record is listed, too: reading its image throws DataError.
//
// nullopt: there are no such files. threads: 0 is one per core. on_records: as
// in RecordImages::List(). Throws IoError, UsageError, and DataError for a
// record without a label, a label that dataset.json does not have, or data
// without a good record.
[[nodiscard]] std::optional<ImageTree> FindRecordImages(
    const std::string& data, int threads,
    const std::function<void(std::int64_t)>& on_records);

}  // namespace infeed
