#pragma once

#include <span>
#include <string>

#include "bench/cluster/cost.h"

namespace infeed {

// docs/internals/scale.md's tables, in Markdown: a row for each cost, a column
// for each number of machines, in the given order. Goes through whole epochs,
// which takes some seconds. Requires: each number of machines is > 0, and its
// ranks have at least one batch in an epoch.
[[nodiscard]] std::string ClusterTables(const ClusterSpec& spec,
                                        std::span<const int> machines);

}  // namespace infeed
