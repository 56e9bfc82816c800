#pragma once

#include <string>

#include "trainer/replay/replayed_step.h"
#include "trainer/results/model_labels.h"

namespace infeed {

// A self-contained HTML page: each image as the network saw it, beside its
// record's with the window drawn, and all facts about it; those with the
// highest loss first, else by slot. At most 256 images.
[[nodiscard]] std::string ReplayPage(const ReplayedStep& step,
                                     const ModelLabels& labels);

}  // namespace infeed
