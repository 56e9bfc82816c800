#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/convert/converter_options.h"
#include "tools/convert/plan.h"
#include "tools/convert/report.h"

namespace infeed {

// Ends a conversion that several processes shared: reads every shard of the
// plan and checks that it was made from the planned images, and has the size
// and the checksum in its side file; then writes the report, labels.txt and
// dataset.json.
//
// options.share.count is the number of processes, so that a missing shard is
// reported with its process. Calls on_shard(shards checked) after each shard,
// one call at a time. Throws IoError for shards that are missing or do not
// match.
[[nodiscard]] ConversionReport FinishConversion(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_shard);

}  // namespace infeed
