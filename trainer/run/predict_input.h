#pragma once

#include <string>
#include <vector>

#include "records/files/shard_set.h"
#include "records/store/record_index.h"
#include "trainer/model_dir/model_labels.h"

// What a prediction is asked of.
namespace infeed {

// The records that users name: image files and folders of them, or shards.
// A folder gives the images in it and in its folders, by their extensions, in
// the order of their names, or, where it has none, its shards. Files that are
// named like shards or end in .tfrecord, and patterns, are shards; any other
// file is an image, in the order given. Of URLs, those with an image's
// extension are images, and of a bucket's folder the images below it, else its
// shards. An image in a folder that is named like a class has that class's
// label.
//
// label_offset: of the model. Throws IoError for what is not there, UsageError
// for images and shards together or no image at all; and what RecordIndex
// throws. on_faults gets what sets of shards lack, here and below.
[[nodiscard]] RecordIndex RecordsOf(
    const std::vector<std::string>& inputs, const ModelLabels& labels,
    int label_offset, const OnShardSetFaults& on_faults = RefuseFaults);

// The records of one split of a data set: "train", "validation" or "test";
// "auto" is test, else validation. Throws UsageError where there is none;
// IoError, and what RecordIndex throws.
[[nodiscard]] RecordIndex RecordsOfSplit(
    const std::string& data_dir, const std::string& split,
    const OnShardSetFaults& on_faults = RefuseFaults);

}  // namespace infeed
