#pragma once

#include <string>

#include "pipeline/engine/batch_lookup.h"
#include "trainer/replay/replayed_step.h"

namespace infeed {

// A sample's record, and how its image was made, as a JSON object. Has the keys
// of docs/report.md.
[[nodiscard]] std::string SampleJson(const SampleDescription& sample);

// A JSON object a line for each image, by slot. docs/report.md has the keys.
[[nodiscard]] std::string ReplayLines(const ReplayedStep& step);

}  // namespace infeed
