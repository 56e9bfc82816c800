#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "pipeline/memory/batch.h"
#include "pipeline/options/options.h"
#include "pipeline/order/epoch_batches.h"
#include "pipeline/order/sample_order.h"

namespace infeed {

// The positions that fill this rank's part of one global batch, counted from
// the beginning of the epoch in which the global batch begins.
struct BatchPlan {
  std::uint32_t epoch = 0;
  std::int64_t number = 0;   // of the global batch in its epoch, from 0
  std::int64_t first = 0;    // position of slot 0
  int samples = 0;           // slots with a sample; the other slots are padding
  StreamPosition next = {};  // after the global batch
  bool last = false;         // the stream ends with it
  int stride = 1;            // between the positions of neighbouring slots
  // Places of an epoch's order; positions beyond it start over at place 0.
  std::int64_t places = std::numeric_limits<std::int64_t>::max();
  // Positions after which the next epoch begins, where a batch may go on in it.
  std::int64_t epoch_end = std::numeric_limits<std::int64_t>::max();
  int repeats = 1;  // positions in a row that have the same place

  [[nodiscard]] std::int64_t PositionOf(int slot) const {
    return first + std::int64_t{slot} * stride;
  }
  [[nodiscard]] SamplePlace SampleOf(int slot) const {
    const std::int64_t position = PositionOf(slot) % epoch_end;
    return {.epoch = epoch +
                     static_cast<std::uint32_t>(PositionOf(slot) / epoch_end),
            .position = position,
            .place = position / repeats % places};
  }

  friend bool operator==(const BatchPlan&, const BatchPlan&) = default;
};

// A plan with the record of each slot that has a sample.
struct PlannedBatch {
  BatchPlan plan;
  std::vector<std::int64_t> records;
};

// Looks the records of a plan up.
[[nodiscard]] PlannedBatch WithRecords(const BatchPlan& plan,
                                       CurrentEpoch& epoch);

// Sets a batch's epoch, number and next position from its plan, and each slot's
// record and position; -1 in padding.
void EnterPlan(const PlannedBatch& planned, Batch& batch);

// Plans a stream's batches one after the other: all the arithmetic of epochs,
// ranks, last batches and resuming.
//
// An epoch has `places` positions; rank_share strided rounds this up, and
// strided_drop down, to a multiple of world_size. Global batch b has the
// epoch's positions [b, b + 1) * batch_size; a rank takes its part of them,
// contiguous or strided. last_batch decides about positions that do not fill a
// batch: they are dropped, padded with empty slots, filled up with positions
// beyond the epoch, which start its order over, or with the next epoch's first
// ones, which that epoch's own batches then do not have. There are `repeat`
// epochs, counted from the one in which the stream begins; 0: the stream never
// ends.
//
// One thread at a time. The constructor throws UsageError for an empty data
// set, an epoch without a batch, and a start that is not the beginning of a
// batch. A start at an epoch's end means the beginning of the next epoch, if
// there is one.
class BatchSequence {
 public:
  // places: the size of an epoch's order. Requires: options are checked.
  BatchSequence(std::int64_t places, const InputOptions& options,
                const StreamPosition& start);

  // Returns the next batch, nullopt after the last one.
  [[nodiscard]] std::optional<BatchPlan> Next();

  // Where the next batch begins.
  [[nodiscard]] const StreamPosition& position() const { return position_; }
  // Batches of the first epoch; with last_batch=carry, others may have one
  // more.
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    return batches_.Within(1);
  }
  // Samples of an epoch in its batches, without padding.
  [[nodiscard]] std::int64_t epoch_samples() const { return batches_.samples; }

 private:
  // Throws UsageError.
  void CheckStart(const StreamPosition& start) const;
  // Turns a position at an epoch's end into the beginning of the next epoch, if
  // there is one; returns other positions unchanged.
  [[nodiscard]] StreamPosition Continued(const StreamPosition& place) const;
  [[nodiscard]] bool IsOver(const StreamPosition& place) const;

  std::int64_t places_;
  EpochBatches batches_;
  std::int64_t rank_;
  std::int64_t world_size_;
  bool is_strided_;
  std::int64_t repeat_;
  int repeats_;  // of each place
  StreamPosition position_;
};

// Returns one batch of any epoch, without those before it: the plan that a
// BatchSequence gives which comes through `place`, where a batch begins. This
// place decides where batches begin with last_batch=carry, and epochs count
// from it in `next` and `last`; an epoch that is not among the `repeat` ones is
// planned as the nearest one that is. Throws UsageError where the epoch has no
// such batch, and what BatchSequence throws.
[[nodiscard]] BatchPlan PlanAt(std::int64_t places, const InputOptions& options,
                               std::uint32_t epoch, std::int64_t number,
                               const StreamPosition& place = {});

}  // namespace infeed
