#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/order/batch_plan.h"
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

// Gives the batches of a sequence with their records, and announces records
// some batches before that, so that their bytes are loaded while other batches
// are filled (RecordStore::WillRead()).
//
// The order must outlive it. One thread at a time. Throws what `announce` does.
class Prefetcher {
 public:
  // May change the list, which is rebuilt for each call. Null: none are
  // announced.
  using Announce = std::function<void(std::vector<std::int64_t>& records)>;

  Prefetcher(const SampleOrder& order, const BatchSequence& sequence,
             const PrefetchOptions& options, Announce announce);

  // Returns the next batch, nullopt after the last one. First announces it and
  // the batches after it, if that was not done yet.
  [[nodiscard]] std::optional<PlannedBatch> Next();

 private:
  void PlanAhead();
  void AddRecords(const PlannedBatch& batch);
  [[nodiscard]] bool IsInBlock(const StreamPosition& block) const;

  BatchSequence sequence_;
  const PrefetchOptions options_;
  const Announce announce_;
  bool over_ = false;
  CurrentEpoch epoch_;
  std::deque<PlannedBatch> planned_;   // and announced
  std::vector<std::int64_t> records_;  // to announce together
};

}  // namespace infeed
