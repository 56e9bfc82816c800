#pragma once

#include <span>
#include <string>

#include "bench/cluster/cost.h"

namespace infeed {

// docs/scale.md's tables, in Markdown: a row for each cost, a column for each
// number of machines, in their order. Walks whole epochs of orders, for some
// seconds. Requires: numbers of machines > 0, whose ranks find a batch in an
// epoch.
[[nodiscard]] std::string ClusterTables(const ClusterSpec& spec,
                                        std::span<const int> machines);

}  // namespace infeed
