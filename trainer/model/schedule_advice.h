#pragma once

#include <string>
#include <vector>

#include "trainer/model/lr_schedule.h"

namespace infeed {

// A line for each problem of a run that is too short for its learning rate,
// with what to set instead: the run ends within an epoch, its warm-up is longer
// than the run, or it uses the reference's schedule of 90 epochs, which has no
// warm-up in runs of less than 18.
[[nodiscard]] std::vector<std::string> ScheduleAdvice(
    const LearningRateOptions& options);

}  // namespace infeed
