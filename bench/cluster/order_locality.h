#pragma once

#include <cstdint>

#include "bench/cluster/cost.h"
#include "pipeline/order/order_options.h"

namespace infeed {

// How scattered one machine's reads are: those of the first machine's ranks in
// the first epoch.
struct OrderLocality {
  std::int64_t records = 0;          // read by the machine
  std::int64_t reads = 0;            // announced by its ranks, joined
  std::int64_t shards_of_epoch = 0;  // touched by these reads
  double shards_of_batch = 0;        // likewise per batch, on average
};

// Goes through the real order, as each rank's input does (SampleOrder,
// BatchSequence, Prefetcher, PlanReads). shuffle: kGlobal or kWindow. Requires:
// an epoch has a batch.
[[nodiscard]] OrderLocality MeasureLocality(const ClusterSpec& spec,
                                            int machines, Shuffle shuffle);

}  // namespace infeed
