#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "pipeline/memory/batch.h"
#include "pipeline/order/options.h"

namespace infeed {

// Which positions of which epoch fill this rank's part of one global batch.
struct BatchPlan {
  std::uint32_t epoch = 0;
  std::int64_t first = 0;    // position of slot 0
  int samples = 0;           // slots with a sample; padding follows
  StreamPosition next = {};  // after the global batch
  bool last = false;         // the stream ends with it
  int stride = 1;            // from the position of a slot to the next one's
  // Places of the epoch's order: positions beyond begin it anew.
  std::int64_t places = std::numeric_limits<std::int64_t>::max();

  // The position of a slot: what its random draws depend on.
  [[nodiscard]] std::int64_t PositionOf(int slot) const {
    return first + std::int64_t{slot} * stride;
  }
  // Its place in the epoch's order.
  [[nodiscard]] std::int64_t PlaceOf(int slot) const {
    return PositionOf(slot) % places;
  }

  friend bool operator==(const BatchPlan&, const BatchPlan&) = default;
};

// The samples of an epoch before its last batch is looked at: its places, or,
// where rank_share is strided, as many more or fewer as let ranks share them
// evenly.
[[nodiscard]] std::int64_t EpochSamples(std::int64_t places,
                                        const InputOptions& options);

// The batches of a stream, planned one after the other: all there is to know
// about epochs, ranks, last batches and resuming, as arithmetic.
//
// An epoch has `places` positions, or, where rank_share is strided, the next
// multiple of world_size, strided_drop, the one before. Global batch b is
// positions [b, b + 1) * batch_size of it; a rank takes its part of them,
// contiguous or strided. Of the positions that do not fill a batch last_batch
// says what becomes: they are dropped, padded with empty slots, or filled up
// with positions beyond the epoch, which begin its order anew. There are
// `repeat` epochs, from the one in which the stream begins on; 0: they never
// end.
//
// One thread at a time. The constructor throws UsageError for an empty data
// set, an epoch without a batch, and a start that is not the beginning of a
// batch. The end of an epoch is the beginning of the next, if there is one.
class BatchSequence {
 public:
  // places: of an epoch's order. Requires: options are checked.
  BatchSequence(std::int64_t places, const InputOptions& options,
                const StreamPosition& start);

  // Returns the next batch, nullopt after the last one.
  [[nodiscard]] std::optional<BatchPlan> Next();

  // Where the next batch begins.
  [[nodiscard]] const StreamPosition& position() const { return position_; }
  [[nodiscard]] std::int64_t batches_per_epoch() const {
    return (end_ + batch_size_ - 1) / batch_size_;
  }

 private:
  // Throws UsageError.
  void CheckStart(const StreamPosition& start) const;
  // A place at an epoch's end as the beginning of the next epoch, if there is
  // one.
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
