#pragma once

#include <cstdint>

#include "pipeline/order/options.h"
#include "records/store/record_index.h"

// Which class of a model a record's label is.
namespace infeed {

// The label of the first class, 0 or 1: what dataset.json beside the shards
// says of it, else 0 where a label 0 occurs, else 1. Without such a
// dataset.json all labels are read once, and kept (label_index.h). Throws
// UsageError where shards of several data sets number their classes
// differently, and what RecordLabels() throws.
[[nodiscard]] int FindLabelOffset(const RecordIndex& index);

// The options with a label_offset: FindLabelOffset() where it is not given.
[[nodiscard]] InputOptions WithLabelOffset(InputOptions options,
                                           const RecordIndex& index);

// The class of a label, from 0; -1 where there is none and require_labels is
// false. Throws DataError saying what is wrong with the label. Requires: the
// options have a label_offset.
[[nodiscard]] std::int32_t ClassOf(std::int64_t label,
                                   const InputOptions& options);

}  // namespace infeed
