#pragma once

#include <string>
#include <vector>

#include "records/files/shard_set.h"
#include "records/store/record_index.h"
#include "trainer/results/model_labels.h"

namespace infeed {

// The records that users name: image files and folders of them, or shards. A
// folder stands for the images in it and in its subfolders, by their
// extensions, in the order of their names, or, if it has no images, for its
// shards. Files with names of shards or ending in .tfrecord, and patterns, are
// shards; any other file is an image, in the order given. A URL with an image's
// extension is an image; a bucket's folder stands for the images below it, or
// else its shards. An image in a folder with the name of a class has that
// class's label, from 1 (LabelledImage).
//
// Throws IoError for a missing input, UsageError
// for images and shards together or for no image at all, and what RecordIndex
// throws. on_faults is called for incomplete sets of shards, here and below.
[[nodiscard]] RecordIndex RecordsOf(
    const std::vector<std::string>& inputs, const ModelLabels& labels,
    const OnShardSetFaults& on_faults = RefuseFaults);

// The records of one split of a data set: "train", "validation" or "test";
// "auto" is test, else validation. Throws UsageError where the split is
// missing, IoError, and what RecordIndex throws.
[[nodiscard]] RecordIndex RecordsOfSplit(
    const std::string& data_dir, const std::string& split,
    const OnShardSetFaults& on_faults = RefuseFaults);

}  // namespace infeed
