#pragma once

#include <string>

#include "trainer/replay/replayed_step.h"

namespace infeed {

// A JSON object a line for each image, by slot. docs/replay.md has the keys.
[[nodiscard]] std::string ReplayLines(const ReplayedStep& step);

}  // namespace infeed
