#pragma once

#include <string>

#include "pipeline/stats/stats.h"

namespace infeed {

// A snapshot, its bottleneck and its verdict as one JSON object, over several
// lines; docs/statistics.md has the keys. Its first key is "schema", which
// grows by one when a key changes its meaning or goes; more may come at any
// time. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string StatsJson(const PipelineStats& stats);

}  // namespace infeed
