#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/engine/run.h"

namespace infeed {

// The run with the highest median. Requires: runs is not empty.
[[nodiscard]] const ThroughputRun& FastestRun(
    const std::vector<ThroughputRun>& runs);

// The bottleneck of the run's median round, in words.
[[nodiscard]] std::string VerdictText(const ThroughputRun& run);

// The results as text: the rates of every run, then the fastest run's stages,
// verdict, time to the first batch, and memory.
[[nodiscard]] std::string ThroughputText(const std::vector<ThroughputRun>& runs,
                                         std::int64_t peak_rss_bytes);

// The results as JSON: an object with the fastest run's keys
// (images_per_second, stages, first_batch_seconds, verdict), peak_rss_bytes,
// the options, and every run under "runs".
[[nodiscard]] std::string ThroughputJson(const std::vector<ThroughputRun>& runs,
                                         const ThroughputOptions& options,
                                         std::int64_t records,
                                         std::int64_t peak_rss_bytes);

}  // namespace infeed
