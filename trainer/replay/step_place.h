#pragma once

#include <cstdint>

#include "pipeline/memory/batch.h"
#include "pipeline/order/epoch_batches.h"

namespace infeed {

// A place of a training's stream that is known: where it was after so many
// updates. By default its beginning.
struct KnownPlace {
  std::int64_t step = 0;
  StreamPosition stream = {};
};

// The global batch of a step.
struct StepPlace {
  std::int64_t step = 0;      // updates done with it, as in metrics.jsonl
  std::uint32_t epoch = 0;    // in which the batch begins
  std::int64_t number = 0;    // of the batch in the epoch, from 0
  StreamPosition begin = {};  // of the batch

  friend bool operator==(const StepPlace&, const StepPlace&) = default;
};

// The batch that a step was trained on, before or after the known place: each
// step takes one batch of the stream. Throws DataError for a step before the
// stream's beginning, and for data without a batch.
[[nodiscard]] StepPlace PlaceOfStep(std::int64_t step,
                                    const EpochBatches& batches,
                                    const KnownPlace& known = {});

}  // namespace infeed
