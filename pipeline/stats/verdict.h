#pragma once

#include <string>

#include "pipeline/stats/bottleneck.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// The bottleneck in words, without a newline: what limits the run, how much of
// the time the device waited, and what would make the run faster.
[[nodiscard]] std::string Verdict(const PipelineStats& stats);

}  // namespace infeed
