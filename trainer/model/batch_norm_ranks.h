#pragma once

namespace infeed {

// How many ranks in a row share the statistics of their batch norms, by the
// parameter batch_norm_group: 0 stands for all. Throws UsageError unless groups
// of so many make up the world.
[[nodiscard]] int BatchNormRanks(int batch_norm_group, int world_size);

}  // namespace infeed
