#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/batch.h"
#include "pipeline/options.h"

namespace infeed {

// Which places of which epoch fill this rank's part of one global batch.
struct BatchPlan {
  std::uint32_t epoch = 0;
  std::int64_t first = 0;    // position of slot 0
  int samples = 0;           // slots with a sample; padding follows
  StreamPosition next = {};  // after the global batch
  bool last = false;         // the stream ends with it

  friend bool operator==(const BatchPlan&, const BatchPlan&) = default;
};

// The batches of a stream, planned one after the other: all there is to know
// about epochs, ranks and resuming, as arithmetic.
//
//   training:    floor(records / batch_size) batches an epoch, epochs for ever
//   evaluation:  one epoch, the last batch padded
//
// One thread at a time. The constructor throws UsageError for an empty data
// set, a training batch larger than it, and a start that is not the beginning
// of a batch. The end of an epoch is the beginning of the next in training, and
// the end of the stream in evaluation.
class BatchSequence {
 public:
  // Requires: options are checked.
  BatchSequence(std::int64_t records, const InputOptions& options,
                const StreamPosition& start);

  // Returns the next batch, nullopt after the last one.
  [[nodiscard]] std::optional<BatchPlan> Next();

  // Where the next batch begins.
  [[nodiscard]] const StreamPosition& position() const { return position_; }
  [[nodiscard]] std::int64_t batches_per_epoch() const;

 private:
  // Where the stream goes on after the batch that begins at position_.
  [[nodiscard]] StreamPosition After() const;
  // The end of the last batch of an epoch.
  [[nodiscard]] std::int64_t EpochEnd() const;

  std::int64_t records_;
  bool training_;
  std::int64_t batch_size_;
  std::int64_t rank_;
  std::int64_t world_size_;
  StreamPosition position_;
};

}  // namespace infeed
