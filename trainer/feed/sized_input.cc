#include "trainer/feed/sized_input.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "pipeline/order/batch_plan.h"
#include "pipeline/order/sample_order.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/reading/packed_reading.h"

namespace infeed {
namespace {

// PipelineStats can only subtract, so a + b is written b - (0 - a).
PipelineStats Sum(const PipelineStats& before, const PipelineStats& now) {
  const PipelineStats nothing = before.Since(before);
  PipelineStats sum = now.Since(nothing.Since(before));
  if (!before.first_bad_record.empty()) {
    sum.first_bad_record = before.first_bad_record;
  }
  return sum;
}

// Throws UsageError where an input with images of this size is rejected.
void CheckSize(const RecordIndex& index, InputOptions options,
               const ImageSize& size) {
  options.preprocess.image_size = size;
  options = CheckedInputOptions(std::move(options));
  (void)PlanMemory(options,
                   PlannedDataOf(index, PlanPackedReading(index, options)));
}

// The positions of an epoch's order. options: checked.
std::int64_t PlacesOf(const RecordIndex& index, const InputOptions& options) {
  return SampleOrder(ShardSizes(index, options.max_records), options).places();
}

}  // namespace

void CheckSizedInput(const RecordIndex* index, const InputOptions& options,
                     const ImageSizeSchedule& sizes,
                     const StreamPosition& start, bool checks_memory) {
  if (index == nullptr) {
    if (sizes.NextChange(0)) {
      throw UsageError(
          "image_size_schedule: fake data has no epochs at which the size "
          "could change; leave it out");
    }
    return;
  }
  if (checks_memory) {
    // A size that needs too much memory is rejected now, not in mid-run.
    for (const auto& [epoch, size] : sizes.sizes()) {
      CheckSize(*index, options, size);
    }
  }
  const InputOptions checked = CheckedInputOptions(options);
  (void)BatchSequence(PlacesOf(*index, checked), checked, start);
}

SizedInput::SizedInput(const RecordIndex* index, const InputOptions& options,
                       const ImageSizeSchedule& sizes,
                       const StreamPosition& start, HeldRecords held)
    : index_(index),
      options_(options),
      sizes_(sizes),
      held_(std::move(held)),
      position_(start) {
  CheckSizedInput(index, options, sizes, start, held_ == nullptr);
  Begin(std::nullopt);
  if (index != nullptr) {
    const InputOptions checked = CheckedInputOptions(options_);
    epochs_ = EpochBatchesOf(PlacesOf(*index, checked), checked);
  }
}

void SizedInput::set_part(std::shared_ptr<Part> next) {
  const std::lock_guard lock(mutex_);
  std::swap(part_, next);  // The old part ends after the lock.
}

void SizedInput::Begin(std::optional<PipelineStats> before) {
  options_.preprocess.image_size = SizeAt(position_);
  const auto next = std::make_shared<Part>();
  next->before = std::move(before);
  next->input = OpenInput(index_, options_, position_, held_);
  set_part(next);
  if (stopped_) {
    next->input->Stop();
  }
}

BatchHandle SizedInput::Next() {
  if (SizeAt(position_) != options_.preprocess.image_size) {
    PipelineStats counted = stats();
    // The old input ends before the next begins: memory holds only one of them.
    auto between = std::make_shared<Part>();
    between->before = counted;
    set_part(std::move(between));
    Begin(std::move(counted));
  }
  BatchHandle batch = part()->input->Next();
  if (batch) {
    position_ = batch->next;
  }
  return batch;
}

void SizedInput::Stop() {
  stopped_ = true;
  const std::shared_ptr<Part> at_hand = part();
  if (at_hand->input) {
    at_hand->input->Stop();
  }
}

std::int64_t SizedInput::BatchesOfSameSize(
    const StreamPosition& position) const {
  const std::optional<std::uint32_t> change = sizes_.NextChange(position.epoch);
  return change ? epochs_.Before(*change, position)
                : std::numeric_limits<std::int64_t>::max();
}

PipelineStats SizedInput::stats() const {
  const std::shared_ptr<Part> at_hand = part();
  if (!at_hand->input) {
    return *at_hand->before;
  }
  const PipelineStats now = at_hand->input->stats();
  return at_hand->before ? Sum(*at_hand->before, now) : now;
}

std::int64_t SizedInput::memory_bytes() const {
  const std::shared_ptr<Part> at_hand = part();
  return at_hand->input ? at_hand->input->memory_bytes() : 0;
}

}  // namespace infeed
