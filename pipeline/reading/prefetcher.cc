#include "pipeline/reading/prefetcher.h"

#include <algorithm>
#include <utility>

#include "records/files/open_source.h"

namespace infeed {

PrefetchOptions PlanPrefetch(const RecordIndex& index,
                             const InputOptions& options) {
  // Records from an object store are kept in memory, under a limit: there
  // records should be announced in the order in which they are read.
  const bool in_blocks =
      options.shuffle == Shuffle::kWindow &&
      options.graph != GraphKind::kBasic &&  // It announces nothing.
      std::none_of(index.shards().begin(), index.shards().end(), IsUrl);
  return {.batches = options.prefetch_batches,
          .block_positions = in_blocks ? options.window_records : 1};
}

Prefetcher::Prefetcher(const SampleOrder& order, const BatchSequence& sequence,
                       const PrefetchOptions& options, Announce announce)
    : sequence_(sequence),
      options_(options),
      announce_(std::move(announce)),
      epoch_(order) {}

std::optional<PlannedBatch> Prefetcher::Next() {
  PlanAhead();
  if (planned_.empty()) {
    return std::nullopt;
  }
  PlannedBatch batch = std::move(planned_.front());
  planned_.pop_front();
  return batch;
}

void Prefetcher::PlanAhead() {
  const std::int64_t ahead = 1 + options_.batches;
  if (over_ || std::ssize(planned_) >= ahead) {
    return;
  }
  records_.clear();
  const StreamPosition block = sequence_.position();
  while (std::ssize(planned_) < ahead || IsInBlock(block)) {
    const std::optional<BatchPlan> plan = sequence_.Next();
    if (!plan) {
      over_ = true;
      break;
    }
    planned_.push_back(WithRecords(*plan, epoch_));
    if (announce_ != nullptr) {
      AddRecords(planned_.back());
    }
  }
  if (!records_.empty()) {
    announce_(records_);
  }
}

void Prefetcher::AddRecords(const PlannedBatch& batch) {
  for (const std::int64_t record : batch.records) {
    if (records_.empty() || records_.back() != record) {  // repeat_augment
      records_.push_back(record);
    }
  }
}

// Whether the next batch begins in the same block as the first one announced.
bool Prefetcher::IsInBlock(const StreamPosition& block) const {
  const StreamPosition& next = sequence_.position();
  return next.epoch == block.epoch &&
         next.position / options_.block_positions ==
             block.position / options_.block_positions;
}

}  // namespace infeed
