#pragma once

#include <string>

#include "pipeline/stats/stats.h"

namespace infeed {

// The table of stages as text, one line a stage, with a heading. images/s is
// what one thread would do of the stage alone.
[[nodiscard]] std::string StageTable(const PipelineStats& stats);

// One line, without its end: how much lies in each queue, and lay at most.
[[nodiscard]] std::string QueueText(const PipelineStats& stats);

// One line, without its end: how many images were decoded with a seek index,
// and of those whose index was refused the first.
[[nodiscard]] std::string SeekIndexText(const SeekIndexStats& stats);

}  // namespace infeed
