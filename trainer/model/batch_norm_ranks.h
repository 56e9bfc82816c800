#pragma once

namespace infeed {

// How many consecutive ranks share the statistics of their batch norms, from
// the parameter batch_norm_group: 0 stands for all. Throws UsageError unless
// world_size is a multiple of the group's size.
[[nodiscard]] int BatchNormRanks(int batch_norm_group, int world_size);

}  // namespace infeed
