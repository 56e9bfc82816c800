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
// tags, which docs/statistics.md lists. Empty for an interval of length 0.
[[nodiscard]] std::vector<Scalar> StatsScalars(const PipelineStats& interval);

}  // namespace infeed
