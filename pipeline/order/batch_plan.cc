#include "pipeline/order/batch_plan.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "base/count_text.h"
#include "base/error.h"
#include "base/rounding.h"

namespace infeed {

PlannedBatch WithRecords(const BatchPlan& plan, CurrentEpoch& epoch) {
  PlannedBatch planned{.plan = plan, .records = {}};
  std::vector<std::int64_t>& records = planned.records;
  records.reserve(static_cast<std::size_t>(plan.samples));
  std::size_t looked_up = 0;
  const auto look_up = [&](std::uint32_t number) {
    epoch.Of(number).ToRecords(std::span(records).subspan(looked_up));
    looked_up = records.size();
  };
  SamplePlace last;
  for (int slot = 0; slot < plan.samples; ++slot) {
    const SamplePlace sample = plan.SampleOf(slot);
    if (slot > 0 && sample.epoch != last.epoch) {
      look_up(last.epoch);
    }
    records.push_back(sample.place);
    last = sample;
  }
  if (plan.samples > 0) {
    look_up(last.epoch);
  }
  return planned;
}

void EnterPlan(const PlannedBatch& planned, Batch& batch) {
  const BatchPlan& plan = planned.plan;
  batch.epoch = plan.epoch;
  batch.number = plan.number;
  batch.next = plan.next;
  for (int slot = 0; slot < batch.size(); ++slot) {
    const bool is_padding = slot >= plan.samples;
    const auto at = static_cast<std::size_t>(slot);
    batch.records()[at] = is_padding ? -1 : planned.records[at];
    batch.positions()[at] = is_padding ? -1 : plan.PositionOf(slot);
  }
}

BatchSequence::BatchSequence(std::int64_t places, const InputOptions& options,
                             const StreamPosition& start)
    : places_(places),
      batches_(EpochBatchesOf(places, options)),
      rank_(options.rank),
      world_size_(options.world_size),
      is_strided_(options.rank_share != RankShare::kContiguous),
      repeat_(options.repeat),
      repeats_(options.repeat_augment) {
  if (places == 0) {
    throw UsageError("the data set has no records");
  }
  if (batches_.Within(1) == 0) {
    throw UsageError("batch_size is " + std::to_string(batches_.batch_size) +
                     ", but an epoch has only " + CountText(places, "record") +
                     ": no batch would be full (last_batch " +
                     std::string(ChoiceName(options.last_batch, kLastBatches)) +
                     ", rank_share " +
                     std::string(ChoiceName(options.rank_share, kRankShares)) +
                     "): lower batch_size, or give last_batch=pad");
  }
  CheckStart(start);
  position_ = Continued(start);
}

void BatchSequence::CheckStart(const StreamPosition& start) const {
  const std::int64_t shared = is_strided_ ? world_size_ : 1;
  const std::int64_t unit = batches_.carries ? shared : batches_.batch_size;
  const std::int64_t end = batches_.samples;
  if (start.position == end || (start.position >= 0 && start.position < end &&
                                start.position % unit == 0)) {
    return;
  }
  throw UsageError(
      "the stream cannot start at position " + std::to_string(start.position) +
      ": give a multiple of " + (batches_.carries ? "" : "batch_size ") +
      std::to_string(unit) + " that is not beyond the epoch's end at " +
      std::to_string(end));
}

StreamPosition BatchSequence::Continued(const StreamPosition& place) const {
  const bool is_end = place.position == batches_.samples;
  return is_end && !IsOver(place) ? batches_.After(place, 0) : place;
}

bool BatchSequence::IsOver(const StreamPosition& place) const {
  const std::int64_t left = batches_.samples - place.position;
  const bool ends = left < (batches_.carries ? batches_.batch_size : 1);
  const std::int64_t done = std::int64_t{place.past_epochs} + (ends ? 1 : 0);
  return repeat_ > 0 && done >= repeat_;
}

std::optional<BatchPlan> BatchSequence::Next() {
  if (IsOver(position_)) {
    return std::nullopt;
  }
  const std::int64_t end = batches_.samples;
  const std::int64_t share = batches_.batch_size / world_size_;
  const std::int64_t stride = is_strided_ ? world_size_ : 1;
  BatchPlan plan;
  plan.epoch = position_.epoch;
  plan.number = position_.position / batches_.batch_size;
  plan.first = position_.position + rank_ * (is_strided_ ? 1 : share);
  plan.stride = static_cast<int>(stride);
  plan.places = places_;
  plan.repeats = repeats_;
  if (batches_.carries) {
    plan.epoch_end = end;
    plan.samples = static_cast<int>(share);
    plan.next = batches_.After(position_, batches_.batch_size);
  } else {
    // This rank's positions from the first on.
    plan.samples = static_cast<int>(
        std::clamp<std::int64_t>(CeilDiv(end - plan.first, stride), 0, share));
    plan.next = position_;
    plan.next.position =
        std::min(position_.position + batches_.batch_size, end);
    plan.next = Continued(plan.next);
  }
  plan.last = IsOver(plan.next);
  position_ = plan.next;
  return plan;
}

BatchPlan PlanAt(std::int64_t places, const InputOptions& options,
                 std::uint32_t epoch, std::int64_t number,
                 const StreamPosition& place) {
  const StreamPosition from = BatchSequence(places, options, place).position();
  const EpochBatches batches = EpochBatchesOf(places, options);
  const std::int64_t most_past =
      options.repeat > 0 ? options.repeat - 1
                         : std::numeric_limits<std::uint32_t>::max();
  const std::int64_t past = std::clamp<std::int64_t>(
      std::int64_t{from.past_epochs} + epoch - from.epoch, 0, most_past);
  const std::int64_t first = batches.FirstOf(epoch, from);
  const std::int64_t samples = batches.samples - first;
  // Where the stream ends, no batch goes on in another epoch.
  const bool is_cut = batches.carries && past + 1 == options.repeat;
  const std::int64_t count = is_cut ? samples / batches.batch_size
                                    : CeilDiv(samples, batches.batch_size);
  if (number < 0 || number >= count) {
    throw UsageError("epoch " + std::to_string(epoch) + " has no batch " +
                     std::to_string(number) + ": it has " +
                     CountText(count, "batch", "batches") +
                     ", numbered from 0");
  }
  const StreamPosition begin = {
      .epoch = epoch,
      .position = first + number * batches.batch_size,
      .past_epochs = static_cast<std::uint32_t>(past)};
  const std::optional<BatchPlan> plan =
      BatchSequence(places, options, begin).Next();
  Check(plan.has_value(), "the stream is not over before its last batch");
  return *plan;
}

}  // namespace infeed
