#pragma once

#include "records/store/key_guess.h"
#include "records/store/record_index.h"

namespace infeed {

// Returns the label of the first class, 0 or 1. It is a property of the data
// set, the same for each of its splits and files:
//
//   image folders, zips   1: RecordIndex numbers their classes
//   tars                  0: .cls and .json count from 0
//   TFRecords             first_label of the dataset.json beside the shards;
//                         else 0 if the keys are those of TensorFlow Datasets,
//                         image and label;
//                         else 0 if a record of the data set has the label 0;
//                         else 0 if labels.txt beside the shards names more
//                         classes than the highest label;
//                         else 1
//
// A data set's records are those of the index, of its other_files() and of
// FindSiblings(); where nothing else decides, the labels of all are read once,
// and kept (label_index.h). Damaged files other than the index's are passed
// over. Throws UsageError when the shards of an index count differently, and
// what FindKeys() and RecordLabels() throw.
[[nodiscard]] int FindLabelOffset(const RecordIndex& index,
                                  const RecordKeys& given = {});

}  // namespace infeed
