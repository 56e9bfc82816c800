#pragma once

#include <cstdint>
#include <string>

#include "pipeline/options/options.h"
#include "records/store/record_index.h"

// Maps a record's label to a class of the model.
namespace infeed {

// Returns the options with the keys of the records: those of FindKeys() for
// TFRecords, else those of the records that are made of images
// (image_record.h). Beside fields or further views label_key becomes empty, so
// that no label is read, if it is the standard one, labels are required without
// wants_labels, and no record is found to have one (MayHaveLabels()). A field
// is not taken for the label, except under the standard key, if wants_labels or
// if it is one whole number of each record.
[[nodiscard]] InputOptions WithFoundKeys(InputOptions options,
                                         const RecordIndex& index);

// Throws UsageError if label_offset is 0 and infeed numbers the classes, from
// label 1, as of image files and zips: each image would get the class after its
// own. The label 0 is a background's with more num_label_classes than names.
void RequireLabelOffset(const InputOptions& options, const RecordIndex& index);

// Returns the options with what depends on the data: those of WithFoundKeys(),
// and label_offset, by FindLabelOffset() if absent. Throws what these throw,
// and UsageError for fields, views and a label_key that no record has
// (RequireFeatures()).
[[nodiscard]] InputOptions ComparedOptions(InputOptions options,
                                           const RecordIndex& index);

// The same for a stream that is to be made: throws what RequireLabelOffset()
// throws, too.
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
