#pragma once

#include "tools/cli/report_table.h"
#include "trainer/replay/run_comparison.h"

namespace infeed {

// The report of --mode compare. Text: the steps, the differences of what the
// runs recorded, and the two samples side by side. JSON:
// {"schema":1,"a":{"model_dir":..,"steps":..},"b":{..},"same":..,
// "equal_steps":..,"differs_by":..,"pixels":..,"differences":[{"kind":..,
// "name":..,"a":..,"b":..},..],"without_effect":[..],"shards":[..],
// "shard_names":[..],"step":..,"place":..,"samples":{"a":{..},"b":{..}},
// "no_sample":..}; keys without a value are null. Samples have the keys of
// docs/report.md.
[[nodiscard]] ReportTable ComparisonReport(const RunComparison& comparison);

}  // namespace infeed
