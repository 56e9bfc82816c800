#pragma once

#include <string>
#include <vector>

#include "pipeline/stats/stats.h"

namespace infeed {

// A number with its TensorBoard tag.
struct Scalar {
  std::string tag;
  double value = 0;

  friend bool operator==(const Scalar&, const Scalar&) = default;
};

// The numbers of an interval that are worth a curve: always the same input/...
// tags, which docs/throughput.md lists. Empty for an interval of length 0.
[[nodiscard]] std::vector<Scalar> StatsScalars(const PipelineStats& interval);

// The table of stages as text, one line a stage, with a heading. images/s is
// the rate of one thread that does only this stage.
[[nodiscard]] std::string StageTable(const PipelineStats& stats);

// The workers of a table: those that lost most ranges, then the slowest, at
// most eight.
[[nodiscard]] std::vector<WorkerStats> WorstWorkers(const PipelineStats& stats);

// The table of WorstWorkers() as text. "" without workers.
[[nodiscard]] std::string WorkerTable(const PipelineStats& stats);

// One line, without a newline: each queue's length now and at its maximum, and
// the number of copied batches if there are any.
[[nodiscard]] std::string QueueText(const PipelineStats& stats);

// One line, without a newline: how many images were decoded with a seek index,
// and the first one whose index was refused.
[[nodiscard]] std::string SeekIndexText(const SeekIndexStats& stats);

// A snapshot, its bottleneck and its verdict as one JSON object, over several
// lines; docs/throughput.md has the keys. Its first key is "schema", which
// grows by one when a key changes its meaning or is removed; new keys may be
// added at any time. Invalid UTF-8 is replaced.
[[nodiscard]] std::string StatsJson(const PipelineStats& stats);

}  // namespace infeed
