#include "trainer/results/eval_steps.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.h"
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

std::int64_t SavedSteps::NextAfter(std::int64_t saved) const {
  return std::min(
      saved + CeilDiv(interval, loop) * loop,
      evaluates ? evaluations.NextAfter(saved) : evaluations.last_step);
}

namespace {

// Every multiple of it is saved; 0: there is none. A run that resumes behind
// one has other ends of loops.
std::int64_t SavedPeriod(const SavedSteps& steps) {
  if (steps.evaluates) {
    return steps.evaluations.interval;
  }
  const std::int64_t period = CeilDiv(steps.interval, steps.loop) * steps.loop;
  return steps.evaluations.first_step % period == 0 ? period : 0;
}

}  // namespace

std::string UnsavedMultiplesText(std::int64_t keep_every,
                                 const SavedSteps& steps) {
  constexpr int kMostSaves = 1'000'000;  // More are not looked at.
  const std::int64_t first = steps.evaluations.first_step;
  if (keep_every == 0 || first >= steps.evaluations.last_step) {
    return "";
  }
  std::int64_t step = first;
  std::int64_t saved = 0;  // multiples
  for (int i = 0; i < kMostSaves && step < steps.evaluations.last_step; ++i) {
    step = steps.NextAfter(step);
    saved += step % keep_every == 0 ? 1 : 0;
  }
  const std::int64_t multiples = step / keep_every - first / keep_every;
  if (saved == multiples) {
    return "";
  }
  std::string text = fmt::format(
      "keep_every={}: checkpoints are written after {} of its {} only: the "
      "next ones are after steps {} and {}",
      keep_every, saved, CountText(multiples, "multiple"),
      steps.NextAfter(first), steps.NextAfter(steps.NextAfter(first)));
  if (const std::int64_t period = SavedPeriod(steps); period > 0) {
    const std::int64_t near = (keep_every + period / 2) / period * period;
    text += fmt::format("; keep_every={} has one after each",
                        std::max(near, period));
  }
  return text;
}

}  // namespace infeed
