#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/memory/batch_pool.h"
#include "pipeline/options/options.h"
#include "pipeline/reading/prefetcher.h"
#include "pipeline/slots/open_batch.h"
#include "pipeline/stats/stage_counters.h"

namespace infeed {

// Plans each batch of a stream, announces its records to the storage and begins
// it: everything that happens before slots are filled.
//
// Owns the open batches: batch i is in place i mod pool size, which batch i -
// size has left, as no more batches exist than the pool holds. The counters
// must outlive it. One thread at a time.
class BatchPlanner {
 public:
  // Requires: options are checked.
  BatchPlanner(Prefetcher batches, const InputOptions& options,
               StageCounters& counters);

  // Waits for a free batch of the pool and begins the next batch in it.
  // nullptr: the stream is over, or the pool is closed. Throws what the
  // prefetcher throws.
  [[nodiscard]] OpenBatch* BeginNext(BatchPool& pool);

  // Batches begun so far.
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  Prefetcher batches_;
  StageCounters& counters_;
  TraceLog* const trace_;
  std::vector<OpenBatch> open_;
  std::int64_t count_ = 0;
};

}  // namespace infeed
