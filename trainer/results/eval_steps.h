#pragma once

#include <cstdint>
#include <string>

#include "pipeline/order/epoch_batches.h"

namespace infeed {

// The steps after which a run evaluates; the run's last step is always one of
// them. Pure arithmetic.
struct EvalSteps {
  std::int64_t first_step = 0;  // where the run starts, which has no evaluation
  std::int64_t last_step = 0;
  std::int64_t interval = 0;  // at its multiples; 0: at the ends of epochs
  EpochBatches epochs = {};

  [[nodiscard]] std::int64_t NextAfter(std::int64_t step) const;
  [[nodiscard]] bool IsAt(std::int64_t step) const {
    return step > 0 && NextAfter(step - 1) == step;
  }
  // The number of evaluations from this step on, including the step's own.
  [[nodiscard]] std::int64_t LeftAt(std::int64_t step) const;
};

// The steps after which a run without an image_size_schedule writes
// checkpoints: each evaluation, and the end of the first loop after `interval`
// steps without one. Pure arithmetic.
struct SavedSteps {
  std::int64_t loop = 1;      // iterations_per_loop
  std::int64_t interval = 1;  // steps_per_checkpoint
  bool evaluates = false;
  EvalSteps evaluations = {};

  [[nodiscard]] std::int64_t NextAfter(std::int64_t saved) const;
};

// A sentence if there are multiples of keep_every after which no checkpoint is
// written, with a value near it without such, or what else to give; "": none.
[[nodiscard]] std::string UnsavedMultiplesText(std::int64_t keep_every,
                                               const SavedSteps& steps);

}  // namespace infeed
