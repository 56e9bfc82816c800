#include "pipeline/batch_plan.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace infeed {

BatchSequence::BatchSequence(std::int64_t records, const InputOptions& options,
                             const StreamPosition& start)
    : records_(records),
      training_(options.training),
      batch_size_(options.batch_size),
      rank_(options.rank),
      world_size_(options.world_size),
      position_(start) {
  if (records == 0) {
    throw UsageError("the data set has no records");
  }
  if (training_ && batch_size_ > records) {
    throw UsageError("batch_size is " + std::to_string(batch_size_) +
                     ", but the data set has only " + std::to_string(records) +
                     " records: training needs a full batch");
  }
  const std::int64_t end = EpochEnd();
  const bool boundary =
      start.position == end || (start.position >= 0 && start.position < end &&
                                start.position % batch_size_ == 0);
  if (!boundary) {
    throw UsageError("the stream cannot start at position " +
                     std::to_string(start.position) + ": give a multiple of " +
                     "batch_size " + std::to_string(batch_size_) +
                     " that is not beyond the epoch's end at " +
                     std::to_string(end));
  }
  if (training_ && start.position == end) {
    position_ = {.epoch = start.epoch + 1, .position = 0};
  }
}

std::int64_t BatchSequence::batches_per_epoch() const {
  return (EpochEnd() + batch_size_ - 1) / batch_size_;
}

std::int64_t BatchSequence::EpochEnd() const {
  return training_ ? records_ / batch_size_ * batch_size_ : records_;
}

StreamPosition BatchSequence::After() const {
  const std::int64_t end =
      std::min(position_.position + batch_size_, EpochEnd());
  if (training_ && end == EpochEnd()) {
    return {.epoch = position_.epoch + 1, .position = 0};
  }
  return {.epoch = position_.epoch, .position = end};
}

std::optional<BatchPlan> BatchSequence::Next() {
  if (!training_ && position_.position == EpochEnd()) {
    return std::nullopt;
  }
  const std::int64_t share = batch_size_ / world_size_;
  BatchPlan plan;
  plan.epoch = position_.epoch;
  plan.first = position_.position + rank_ * share;
  plan.samples = static_cast<int>(
      std::clamp<std::int64_t>(EpochEnd() - plan.first, 0, share));
  plan.next = After();
  plan.last = !training_ && plan.next.position == EpochEnd();
  position_ = plan.next;
  return plan;
}

}  // namespace infeed
