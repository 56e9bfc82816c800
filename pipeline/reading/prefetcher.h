#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/order/batch_plan.h"
#include "pipeline/order/options.h"
#include "pipeline/order/sample_order.h"
#include "records/store/record_index.h"

namespace infeed {

struct PrefetchOptions {
  int batches = 2;  // announced ahead of the one that is put next
  // Positions of the order among which records are shuffled that lie side by
  // side: they are announced together. 1: each batch for itself.
  std::int64_t block_positions = 1;
};

// Neighbours are what shuffle=window brings together.
[[nodiscard]] PrefetchOptions PlanPrefetch(const RecordIndex& index,
                                           const InputOptions& options);

// Tells which records will be asked for, some batches ahead of the pool, so
// that their bytes are on their way while other batches are filled
// (RecordStore::WillRead()). Walks the same batches as the driver, with a
// sequence of its own.
//
// The order must outlive it. One thread at a time. Throws what `announce` does.
class Prefetcher {
 public:
  // It may change the list, which is worked out anew each time.
  using Announce = std::function<void(std::vector<std::int64_t>& records)>;

  Prefetcher(const SampleOrder& order, const BatchSequence& sequence,
             const PrefetchOptions& options, Announce announce);

  // Announces what is not yet of the number-th batch from the start, and of
  // those that follow it.
  void Reach(std::int64_t number);

 private:
  void AddBatch(const BatchPlan& plan);
  [[nodiscard]] bool IsInBlock(const StreamPosition& block) const;

  BatchSequence sequence_;
  const PrefetchOptions options_;
  const Announce announce_;
  std::int64_t planned_ = 0;  // batches
  bool over_ = false;
  CurrentEpoch epoch_;
  std::vector<std::int64_t> records_;  // of those to announce together
};

}  // namespace infeed
