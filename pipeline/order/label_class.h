#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"

// Maps a record's label to a class of the model.
namespace infeed {

// The label of the first class, 0 or 1: read from dataset.json beside the
// shards; else 0 if a label 0 occurs, else 1. Without such a dataset.json all
// labels are read once, and stored (label_index.h). Throws UsageError where
// shards of several data sets number their classes differently, and what
// RecordLabels() throws.
[[nodiscard]] int FindLabelOffset(const RecordIndex& index,
                                  std::string_view label_key = kLabelKey);

// Returns the options with the keys of the records: those of FindKeys() for
// TFRecords, else those of the records that are made of images
// (image_record.h).
[[nodiscard]] InputOptions WithFoundKeys(InputOptions options,
                                         const RecordIndex& index);

// Returns the options with what depends on the data: the same, and
// label_offset, by FindLabelOffset() if absent.
[[nodiscard]] InputOptions ResolvedOptions(InputOptions options,
                                           const RecordIndex& index);

// A sentence for the user about keys that were found in the records and are not
// those of the options; "" if there are none.
[[nodiscard]] std::string KeysNote(const InputOptions& options,
                                   const RecordIndex& index);

// The class of a label, from 0; -1 if the label has no class and require_labels
// is false. Throws DataError naming what is wrong with the label. Requires: the
// options have a label_offset.
[[nodiscard]] std::int32_t ClassOf(std::int64_t label,
                                   const InputOptions& options);

}  // namespace infeed
