#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/rounding.h"
#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"

namespace infeed {

class EpochOrder;

// The epoch and the positions that fill this rank's part of one global batch.
struct BatchPlan {
  std::uint32_t epoch = 0;
  std::int64_t number = 0;   // of the global batch in its epoch, from 0
  std::int64_t first = 0;    // position of slot 0
  int samples = 0;           // slots with a sample; the other slots are padding
  StreamPosition next = {};  // after the global batch
  bool last = false;         // the stream ends with it
  int stride = 1;            // between the positions of neighbouring slots
  // Places of the epoch's order; positions beyond it start over at place 0.
  std::int64_t places = std::numeric_limits<std::int64_t>::max();

  // A slot's position, which determines its random draws.
  [[nodiscard]] std::int64_t PositionOf(int slot) const {
    return first + std::int64_t{slot} * stride;
  }
  // A slot's place in the epoch's order.
  [[nodiscard]] std::int64_t PlaceOf(int slot) const {
    return PositionOf(slot) % places;
  }

  friend bool operator==(const BatchPlan&, const BatchPlan&) = default;
};

// Sets a batch's epoch, number and next position from its plan, and each slot's
// record and position; -1 in padding.
void EnterPlan(const BatchPlan& plan, const EpochOrder& order, Batch& batch);

// The samples of an epoch before its last batch is padded or dropped: its
// places, or, if rank_share is strided, rounded so that ranks share them
// evenly.
[[nodiscard]] std::int64_t EpochSamples(std::int64_t places,
                                        const InputOptions& options);

// Plans a stream's batches one after the other: all the arithmetic of epochs,
// ranks, last batches and resuming.
//
// An epoch has `places` positions; rank_share strided rounds this up, and
// strided_drop down, to a multiple of world_size. Global batch b has the
// epoch's positions [b, b + 1) * batch_size; a rank takes its part of them,
// contiguous or strided. last_batch decides about positions that do not fill a
// batch: they are dropped, padded with empty slots, or filled up with positions
// beyond the epoch, which start its order over. There are `repeat` epochs,
// counted from the one in which the stream begins; 0: the stream never ends.
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
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    return CeilDiv<std::int64_t>(end_, batch_size_);
  }

 private:
  // Throws UsageError.
  void CheckStart(const StreamPosition& start) const;
  // Turns a position at an epoch's end into the beginning of the next epoch, if
  // there is one; returns other positions unchanged.
  [[nodiscard]] StreamPosition Continued(const StreamPosition& place) const;
  [[nodiscard]] bool IsOver(const StreamPosition& place) const;

  std::int64_t places_;
  std::int64_t batch_size_;
  std::int64_t rank_;
  std::int64_t world_size_;
  bool is_strided_;
  std::int64_t repeat_;
  std::int64_t end_;  // positions of an epoch, without padding
  StreamPosition position_;
};

}  // namespace infeed
