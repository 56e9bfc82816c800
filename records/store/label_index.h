#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "records/example/imagenet_example.h"
#include "records/store/index_classes.h"
#include "records/store/key_guess.h"
#include "records/store/record_index.h"

namespace infeed {

struct LabelIndexOptions {
  // Whether label files are read and written beside the shards.
  bool use_cache = true;
  // The key of the labels in the records; the standard key is replaced by
  // FindKeys().
  std::string label_key{kLabelKey};
};

// Returns the stored label of each record. The first call reads all data once
// and keeps the labels in a side file per shard and key, tied to the shard's
// size and modification time (docs/formats.md). Throws IoError when a shard
// cannot be read; a label file that cannot be written is made again the next
// time. The labels of shards without Examples are in the index; nothing is read
// or written for them.
[[nodiscard]] std::vector<std::int64_t> RecordLabels(
    const RecordIndex& index, const LabelIndexOptions& options = {});

// The number of records with each label. As RecordLabels(), but holds the
// labels of only one shard in memory at a time.
using LabelCounts = std::map<std::int64_t, std::int64_t>;
[[nodiscard]] LabelCounts CountLabels(const RecordIndex& index,
                                      const LabelIndexOptions& options = {});

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
// and kept (RecordLabels()). Damaged files other than the index's are passed
// over. Throws UsageError when the shards of an index count differently, and
// what FindKeys() and RecordLabels() throw.
[[nodiscard]] int FindLabelOffset(const RecordIndex& index,
                                  const RecordKeys& given = {});

// The same where it is known without the labels of records; else nullopt.
[[nodiscard]] std::optional<int> StatedLabelOffset(
    const RecordIndex& index, const RecordKeys& given = {});

// FindClasses() with the label of the first name; without names it may be
// absent. That of a labels.txt, which does not contain it, is
// FindLabelOffset()'s, and the names are compared with the records' labels:
// throws DataError where a label is beyond the names. label_key:
// LabelIndexOptions. Throws what the functions above throw.
[[nodiscard]] IndexClasses FindNumberedClasses(
    const RecordIndex& index,
    const std::string& label_key = std::string(kLabelKey));

}  // namespace infeed
