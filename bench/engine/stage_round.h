#pragma once

#include "bench/engine/round.h"
#include "bench/engine/stage_work.h"
#include "pipeline/order/options.h"

namespace infeed {

// Lets input.threads threads do only one stage's work for a while. The rate is
// that of the stage alone; the stats contain only that stage. Throws what
// the work throws. Requires: input is checked.
[[nodiscard]] ThroughputRound MeasureStage(Stage stage, const StageWork& work,
                                           const InputOptions& input,
                                           const RoundOptions& options);

}  // namespace infeed
