#pragma once

#include <cstdint>
#include <string>

#include "pipeline/stats/stats.h"
#include "trainer/log/run_clock.h"

namespace infeed {

// The bottleneck of a training run and how to remove it, as text: the input's
// verdict on the time in loops, then a sentence for each part of the run that
// takes too large a share: warm-up, the host between loops, evaluations,
// checkpoints. One sentence per line, without a newline at the end. input: has
// no stages for fake data and for images in the device's memory.
[[nodiscard]] std::string TrainVerdict(const RunTimes& times,
                                       const PipelineStats& input,
                                       std::int64_t iterations_per_loop);

}  // namespace infeed
