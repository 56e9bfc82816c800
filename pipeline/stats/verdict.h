#pragma once

#include <string>

#include "pipeline/stats/bottleneck.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// The bottleneck in words, without a line's end: what bounds the run, how far
// the device waited, what would change it.
[[nodiscard]] std::string Verdict(const PipelineStats& stats);

}  // namespace infeed
