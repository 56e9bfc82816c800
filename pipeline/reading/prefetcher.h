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
  int batches = 2;  // announced ahead of the next batch
  // Positions per block within which the order shuffles records that are
  // neighbours in the shards; a block is announced as a whole. 1: each batch is
  // announced by itself.
  std::int64_t block_positions = 1;
};

// Only shuffle=window has such blocks of neighbours.
[[nodiscard]] PrefetchOptions PlanPrefetch(const RecordIndex& index,
                                           const InputOptions& options);

// Announces records some batches before they are read, so that their bytes are
// loaded while other batches are filled (RecordStore::WillRead()). Goes through
// the same batches as the driver, with a sequence of its own.
//
// The order must outlive it. One thread at a time. Throws what `announce` does.
class Prefetcher {
 public:
  // May change the list, which is rebuilt for each call.
  using Announce = std::function<void(std::vector<std::int64_t>& records)>;

  Prefetcher(const SampleOrder& order, const BatchSequence& sequence,
             const PrefetchOptions& options, Announce announce);

  // Announces the records of the number-th batch from the start and of the
  // batches after it, unless already announced.
  void AnnounceFrom(std::int64_t number);

 private:
  void AddBatch(const BatchPlan& plan);
  [[nodiscard]] bool IsInBlock(const StreamPosition& block) const;

  BatchSequence sequence_;
  const PrefetchOptions options_;
  const Announce announce_;
  std::int64_t planned_ = 0;  // batches
  bool over_ = false;
  CurrentEpoch epoch_;
  std::vector<std::int64_t> records_;  // to announce together
};

}  // namespace infeed
