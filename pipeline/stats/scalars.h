#pragma once

#include <string>
#include <vector>

#include "pipeline/stats/stats.h"

namespace infeed {

// A number with the tag under which TensorBoard shows it.
struct Scalar {
  std::string tag;
  double value = 0;

  friend bool operator==(const Scalar&, const Scalar&) = default;
};

// What is worth a curve of an interval of a pipeline's life: input/... tags,
// the same ones every time. docs/statistics.md lists them. Empty for an
// interval of no length.
[[nodiscard]] std::vector<Scalar> StatsScalars(const PipelineStats& interval);

}  // namespace infeed
