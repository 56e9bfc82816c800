#pragma once

#include <cstdint>
#include <string>

#include "pipeline/stats/stats.h"
#include "trainer/log/run_clock.h"

namespace infeed {

// What bounds a training and what would change it, in words: the input's
// verdict of its loops' time, then a sentence for each share of the run that
// is larger than it need be: warm-up, the host between loops, evaluations,
// checkpoints. One sentence a line, without the last one's end. input: without
// stages where the data is made, not read.
[[nodiscard]] std::string TrainVerdict(const RunTimes& times,
                                       const PipelineStats& input,
                                       std::int64_t iterations_per_loop);

}  // namespace infeed
