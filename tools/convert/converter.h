#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "tools/convert/converter_options.h"
#include "tools/convert/plan.h"

namespace infeed {

// Progress of a conversion, in images of this process's share.
struct ConversionProgress {
  std::int64_t done = 0;
  std::int64_t kept = 0;  // of `done`: in shards of an earlier run
  std::int64_t total = 0;
};
using OnProgress = std::function<void(const ConversionProgress&)>;

struct ImageNote {
  std::string path;
  std::string reason;

  friend bool operator==(const ImageNote&, const ImageNote&) = default;
};

struct ConversionReport {
  DatasetInfo info;  // as in dataset.json; for a share only its shards
  TaskShare share;
  std::int64_t kept_shards = 0;      // of an earlier run
  std::int64_t replaced_shards = 0;  // that were in the folder
  std::vector<ImageNote> reencoded;  // in the order of the records
  std::vector<ImageNote> skipped;    // likewise
  // Likewise: stored without the rotation in their EXIF data.
  std::vector<ImageNote> not_turned;
  std::vector<LeftOut> left_out;  // of the whole plan, even in a share's report
  std::vector<DuplicateGroup> duplicates;
  // Number of records with a seek index; nullopt: none were requested.
  std::optional<std::int64_t> seek_indexes;
};

// Writes the planned shards into a folder, which is created if it is missing,
// each with a side file by which a later run of the same conversion recognizes
// the shard as finished and keeps it. If this process writes all shards, writes
// labels.txt after them and, last, dataset.json. Each file appears whole or not
// at all, and the same images give the same bytes whatever the number of
// threads, tasks and interruptions.
//
// Calls on_progress, which may be empty, in the calling thread. Throws
// UsageError, unless options.overwrite, for shards that are not part of the
// plan and for files of another conversion or program that would be replaced;
// IoError; and DataError for an unreadable image that is not to be skipped, or
// for a split without a good image.
[[nodiscard]] ConversionReport Convert(const ConversionPlan& plan,
                                       const std::string& output_dir,
                                       const ConverterOptions& options,
                                       const OnProgress& on_progress);

// Ends a conversion that several processes shared: reads every shard of the
// plan and checks that it was made from the planned images, and has the size
// and the checksum in its side file; then writes the report, labels.txt and
// dataset.json.
//
// options.share.count is the number of processes, so that a missing shard is
// reported with its process. Calls on_shard(shards checked), which may be
// empty, after each shard, one call at a time. Throws IoError for shards that
// are missing or do not match.
[[nodiscard]] ConversionReport FinishConversion(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_shard);

}  // namespace infeed
