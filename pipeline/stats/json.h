#pragma once

#include <string>

#include "pipeline/stats/stats.h"

namespace infeed {

// A snapshot, its bottleneck and its verdict as one JSON object, over several
// lines; docs/statistics.md has the keys. Its first key is "schema", which
// grows by one when a key changes its meaning or is removed; new keys may be
// added at any time. Invalid UTF-8 is replaced.
[[nodiscard]] std::string StatsJson(const PipelineStats& stats);

}  // namespace infeed
