#pragma once

#include <cstdint>

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

}  // namespace infeed
