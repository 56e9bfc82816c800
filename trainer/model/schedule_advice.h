#pragma once

#include <string>
#include <vector>

#include "trainer/model/lr_schedule.h"

namespace infeed {

// One line for each way in which a run is too short for its learning rate, and
// what to give instead: it ends within an epoch, its warm-up outlasts it, or it
// has the reference's schedule of 90 epochs, which has no warm-up below 18.
[[nodiscard]] std::vector<std::string> ScheduleAdvice(
    const LearningRateOptions& options);

}  // namespace infeed
