#pragma once

#include <string>

#include "trainer/replay/replayed_step.h"
#include "trainer/results/model_labels.h"

namespace infeed {

// A self-contained HTML page: each of ShownImages() as the network saw it,
// beside its record's with the window drawn, and all facts about it.
[[nodiscard]] std::string ReplayPage(const ReplayedStep& step,
                                     const ModelLabels& labels);

}  // namespace infeed
