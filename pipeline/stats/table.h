#pragma once

#include <string>

#include "pipeline/stats/stats.h"

namespace infeed {

// The table of stages as text, one line a stage, with a heading. images/s is
// the rate of one thread that does only this stage.
[[nodiscard]] std::string StageTable(const PipelineStats& stats);

// One line, without a newline: each queue's length now and at its maximum, and
// the number of copied batches if there are any.
[[nodiscard]] std::string QueueText(const PipelineStats& stats);

// One line, without a newline: how many images were decoded with a seek index,
// and the first one whose index was refused.
[[nodiscard]] std::string SeekIndexText(const SeekIndexStats& stats);

}  // namespace infeed
