#pragma once

#include <cstdint>

#include "bench/cluster/cost.h"
#include "pipeline/order/order_options.h"

namespace infeed {

// How scattered the reads of one machine are: of the first one's ranks, in the
// first epoch.
struct OrderLocality {
  std::int64_t records = 0;          // that the machine reads
  std::int64_t reads = 0;            // that its ranks announce of files, joined
  std::int64_t shards_of_epoch = 0;  // in which they lie
  double shards_of_batch = 0;        // likewise, on average over batches
};

// Walks the order itself, as each rank's input does (SampleOrder,
// BatchSequence, Prefetcher, PlanReads). shuffle: kGlobal or kWindow. Requires:
// an epoch has a batch.
[[nodiscard]] OrderLocality MeasureLocality(const ClusterSpec& spec,
                                            int machines, Shuffle shuffle);

}  // namespace infeed
