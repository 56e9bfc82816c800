#include "pipeline/order/batch_plan.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/rounding.h"
#include "pipeline/order/sample_order.h"

namespace infeed {
namespace {

// The positions of an epoch that are in its batches.
std::int64_t EpochEnd(std::int64_t places, const InputOptions& options) {
  const std::int64_t positions = EpochSamples(places, options);
  switch (options.last_batch) {
    case LastBatch::kPad:
      return positions;
    case LastBatch::kRepeat:
      return RoundUp<std::int64_t>(positions, options.batch_size);
    case LastBatch::kByMode:
    case LastBatch::kDrop:
      break;
  }
  return positions / options.batch_size * options.batch_size;
}

}  // namespace

void EnterPlan(const BatchPlan& plan, const EpochOrder& order, Batch& batch) {
  batch.epoch = plan.epoch;
  batch.number = plan.number;
  batch.next = plan.next;
  for (int slot = 0; slot < batch.size(); ++slot) {
    const bool is_padding = slot >= plan.samples;
    const auto at = static_cast<std::size_t>(slot);
    batch.records()[at] = is_padding ? -1 : order.RecordAt(plan.PlaceOf(slot));
    batch.positions()[at] = is_padding ? -1 : plan.PositionOf(slot);
  }
}

std::int64_t EpochSamples(std::int64_t places, const InputOptions& options) {
  switch (options.rank_share) {
    case RankShare::kStrided:
      return RoundUp<std::int64_t>(places, options.world_size);
    case RankShare::kStridedDrop:
      return places / options.world_size * options.world_size;
    case RankShare::kContiguous:
      break;
  }
  return places;
}

BatchSequence::BatchSequence(std::int64_t places, const InputOptions& options,
                             const StreamPosition& start)
    : places_(places),
      batch_size_(options.batch_size),
      rank_(options.rank),
      world_size_(options.world_size),
      is_strided_(options.rank_share != RankShare::kContiguous),
      repeat_(options.repeat),
      end_(EpochEnd(places, options)) {
  if (places == 0) {
    throw UsageError("the data set has no records");
  }
  if (end_ == 0) {
    throw UsageError("batch_size is " + std::to_string(batch_size_) +
                     ", but the data set has only " + std::to_string(places) +
                     " records: no batch would be full (last_batch " +
                     std::string(ChoiceName(options.last_batch, kLastBatches)) +
                     ", rank_share " +
                     std::string(ChoiceName(options.rank_share, kRankShares)) +
                     ")");
  }
  CheckStart(start);
  position_ = Continued(start);
}

void BatchSequence::CheckStart(const StreamPosition& start) const {
  if (start.position == end_ || (start.position >= 0 && start.position < end_ &&
                                 start.position % batch_size_ == 0)) {
    return;
  }
  throw UsageError(
      "the stream cannot start at position " + std::to_string(start.position) +
      ": give a multiple of " + "batch_size " + std::to_string(batch_size_) +
      " that is not beyond the epoch's end at " + std::to_string(end_));
}

StreamPosition BatchSequence::Continued(const StreamPosition& place) const {
  const bool is_end = place.position == end_;
  return is_end && !IsOver(place)
             ? StreamPosition{.epoch = place.epoch + 1,
                              .position = 0,
                              .past_epochs = place.past_epochs + 1}
             : place;
}

bool BatchSequence::IsOver(const StreamPosition& place) const {
  const std::int64_t done =
      std::int64_t{place.past_epochs} + (place.position == end_ ? 1 : 0);
  return repeat_ > 0 && done >= repeat_;
}

std::optional<BatchPlan> BatchSequence::Next() {
  if (IsOver(position_)) {
    return std::nullopt;
  }
  const std::int64_t share = batch_size_ / world_size_;
  const std::int64_t stride = is_strided_ ? world_size_ : 1;
  BatchPlan plan;
  plan.epoch = position_.epoch;
  plan.number = position_.position / batch_size_;
  plan.first = position_.position + rank_ * (is_strided_ ? 1 : share);
  plan.stride = static_cast<int>(stride);
  plan.places = places_;
  // This rank's positions from the first on.
  plan.samples = static_cast<int>(
      std::clamp<std::int64_t>(CeilDiv(end_ - plan.first, stride), 0, share));
  plan.next =
      Continued({.epoch = position_.epoch,
                 .position = std::min(position_.position + batch_size_, end_),
                 .past_epochs = position_.past_epochs});
  plan.last = IsOver(plan.next);
  position_ = plan.next;
  return plan;
}

}  // namespace infeed
