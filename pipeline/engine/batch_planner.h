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

// Plans each batch of a stream, announces its records to the storage and begins
// it: everything that happens before slots are filled.
//
// Owns the open batches: batch i is in place i mod pool size, which batch i -
// size has left, as no more batches exist than the pool holds. The order and
// the counters must outlive it. One thread at a time.
class BatchPlanner {
 public:
  // Requires: options are checked; announced records are announced by
  // `prefetcher`, which walks the same sequence.
  BatchPlanner(const SampleOrder& order, const BatchSequence& sequence,
               const InputOptions& options, Prefetcher prefetcher,
               StageCounters& counters);

  // Waits for a free batch of the pool and begins the next batch in it.
  // nullptr: the stream is over, or the pool is closed. Throws what the
  // prefetcher throws.
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
