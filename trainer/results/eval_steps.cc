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

// What would keep every multiple; "": nothing simple.
std::string SavingAdvice(std::int64_t keep_every, const SavedSteps& steps) {
  const EvalSteps& evaluations = steps.evaluations;
  // Each of its multiples is saved. Behind one that is not, loops end
  // elsewhere.
  const std::int64_t period =
      steps.evaluates ? evaluations.interval
                      : CeilDiv(steps.interval, steps.loop) * steps.loop;
  if (period > 0 && period <= 2 * keep_every &&
      (steps.evaluates || evaluations.first_step % period == 0)) {
    const std::int64_t near = (keep_every + period / 2) / period * period;
    return fmt::format("; keep_every={} has one after each",
                       std::max(near, period));
  }
  const bool divides =
      evaluations.first_step % keep_every == 0 &&
      (!steps.evaluates || (period > 0 && period % keep_every == 0));
  return divides ? "; give iterations_per_loop and steps_per_checkpoint that "
                   "divide it"
                 : "";
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
  return fmt::format(
             "keep_every={}: checkpoints are written after {} of its {} only: "
             "the next ones are after steps {} and {}",
             keep_every, saved, CountText(multiples, "multiple"),
             steps.NextAfter(first), steps.NextAfter(steps.NextAfter(first))) +
         SavingAdvice(keep_every, steps);
}

}  // namespace infeed
