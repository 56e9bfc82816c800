#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/engine/open_batch.h"
#include "pipeline/memory/batch.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/options.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/prefetcher.h"
#include "pipeline/stats/stage_counters.h"

namespace infeed {

// Batch after batch of a stream, planned, announced to the storage and begun:
// all that happens before slots are filled.
//
// Owns the batches that are open: batch i is in place i mod the size of the
// pool, which batch i - size has left, as there are no more batches than that.
// The order and the counters must outlive it. One thread at a time.
class BatchPlanner {
 public:
  // Requires: options are checked; announced records are announced by
  // `prefetcher`, which walks the same sequence.
  BatchPlanner(const SampleOrder& order, const BatchSequence& sequence,
               const InputOptions& options, Prefetcher prefetcher,
               StageCounters& counters);

  // Begins the next batch as soon as the pool has one. nullptr: the stream is
  // over, or the pool is closed. Throws what announcing does.
  [[nodiscard]] OpenBatch* BeginNext(BatchPool& pool);

  // Batches begun so far.
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  BatchSequence sequence_;
  Prefetcher prefetcher_;
  const bool prefetches_;
  StageCounters& counters_;
  TraceLog* const trace_;
  std::vector<OpenBatch> open_;
  std::int64_t count_ = 0;
  CurrentEpoch epoch_;
};

}  // namespace infeed
