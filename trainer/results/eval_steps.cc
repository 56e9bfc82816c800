#include "trainer/results/eval_steps.h"

#include <algorithm>

#include "base/rounding.h"

namespace infeed {

std::int64_t EvalSteps::NextAfter(std::int64_t step) const {
  const std::int64_t next =
      interval > 0 ? (step / interval + 1) * interval : epochs.NextEnd(step);
  return std::min(next, last_step);
}

std::int64_t EvalSteps::LeftAt(std::int64_t step) const {
  const std::int64_t done = std::max(first_step, step - 1);
  if (done >= last_step) {
    return 0;
  }
  if (interval > 0) {
    return CeilDiv(last_step, interval) - done / interval;
  }
  const std::int64_t ended = epochs.EpochsEnded(last_step);
  return ended - epochs.EpochsEnded(done) +
         (epochs.Within(ended) < last_step ? 1 : 0);
}

}  // namespace infeed
