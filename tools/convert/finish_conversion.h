#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/convert/converter_options.h"
#include "tools/convert/plan.h"
#include "tools/convert/report.h"

namespace infeed {

// Ends a conversion that several processes shared: checks that every shard of
// the plan is on disk, was made from what the plan says, and has the size and,
// as all of it is read, the checksum of its side file; then writes the report,
// labels.txt and dataset.json.
//
// options.share.count says how many processes there were, so that what is
// missing can be named with whose it is. Calls on_shard(shards checked) after
// each, one call at a time. Throws IoError for shards that are
// missing or do not fit.
[[nodiscard]] ConversionReport FinishConversion(
    const ConversionPlan& plan, const std::string& output_dir,
    const ConverterOptions& options,
    const std::function<void(std::int64_t)>& on_shard);

}  // namespace infeed
