#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/convert/converter_options.h"
#include "tools/convert/plan.h"
#include "tools/convert/report.h"

namespace infeed {

// How far a conversion is, in images of this process's share.
struct ConversionProgress {
  std::int64_t done = 0;
  std::int64_t kept = 0;  // of those: in shards of an earlier run
  std::int64_t total = 0;
};
using OnProgress = std::function<void(const ConversionProgress&)>;

// Writes the planned shards into a folder, which is made where it is missing,
// each with a side file from which a later run of the same conversion sees that
// the shard is finished, and keeps it. When all shards are this process's, then
// labels.txt and, last, dataset.json. Each file appears whole or not at all,
// and the same images give the same bytes whatever the number of threads, tasks
// and interruptions.
//
// Calls on_progress in the calling thread. Throws UsageError for shards that
// are not part of the plan, IoError, and DataError for an image that cannot be
// read where those are not skipped, or for a split without a single good image.
[[nodiscard]] ConversionReport Convert(const ConversionPlan& plan,
                                       const std::string& output_dir,
                                       const ConverterOptions& options,
                                       const OnProgress& on_progress);

}  // namespace infeed
