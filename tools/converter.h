#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "records/dataset_info.h"
#include "tools/conversion_plan.h"
#include "tools/shard_converter.h"

namespace infeed {

struct ConverterOptions {
  OnBadImage on_bad_image = OnBadImage::kFail;
  // Whether every image is decoded once; otherwise only headers are read, and
  // a broken image is found when it is used.
  bool verify_images = true;
  // Whether shards in the output folder that are not part of the plan may be
  // removed; otherwise they are a UsageError.
  bool overwrite = false;
  int threads = 0;  // 0: one for each core
};

struct ConversionReport {
  DatasetInfo info;                  // as in dataset.json
  std::vector<ImageNote> reencoded;  // in the order of the records
  std::vector<ImageNote> skipped;    // likewise
};

// Writes the planned shards, labels.txt (the classes, one a line) and, last,
// dataset.json into a folder, which is made where it is missing. Each file
// appears whole or not at all, and the same images give the same bytes
// whatever the number of threads.
//
// Calls on_progress(images done so far) in the calling thread. Throws
// UsageError for shards that are not part of the plan, IoError, and DataError
// for an image that cannot be read where those are not skipped, or for a split
// without a single good image.
[[nodiscard]] ConversionReport Convert(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_progress);

}  // namespace infeed
