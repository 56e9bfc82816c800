#include "trainer/log/train_verdict.h"

#include <fmt/format.h>

#include "base/ratio.h"
#include "pipeline/stats/verdict.h"

namespace infeed {
namespace {

// Shares of a run's time that are worth a sentence.
constexpr double kLongWarmUp = 0.5;
constexpr double kLongBetween = 0.02;  // of the steps and what is between
constexpr double kLongEvaluations = 0.1;
constexpr double kLongCheckpoints = 0.05;

std::string InputText(const RunTimes& times, const PipelineStats& input) {
  return input.stages.empty()
             ? fmt::format(
                   "the device bounds the run: it waited {:.0f} % of the time "
                   "for its input",
                   100 * times.input_wait_share())
             : Verdict(input);
}

std::string WarmUpText(const RunTimes& times) {
  const double share = Ratio(times.start_up + times.warm_up, times.total);
  return share < kLongWarmUp
             ? ""
             : fmt::format(
                   "\nwarm-up took {:.0f} % of the run, {:.1f} s before the "
                   "first loop and {:.1f} s of it: give a longer run for "
                   "better figures",
                   100 * share, times.start_up, times.warm_up);
}

std::string BetweenText(const RunTimes& times,
                        std::int64_t iterations_per_loop) {
  const double host = times.between_steps();
  const double share = Ratio(host, times.steady + host);
  // A single loop has no time between loops.
  if (share < kLongBetween || times.loops < 2) {
    return "";
  }
  return fmt::format(
      "\nthe device was idle for {:.1f} % of the time while the host went "
      "from loop to loop, {:.1f} ms for each loop of {} steps: a larger "
      "iterations_per_loop would help",
      100 * share, 1e3 * host / static_cast<double>(times.loops),
      iterations_per_loop);
}

std::string PausesText(const RunTimes& times) {
  std::string text;
  const double evaluations = Ratio(times.evaluations, times.total);
  if (evaluations >= kLongEvaluations) {
    text += fmt::format(
        "\nevaluations took {:.0f} % of the run: a larger steps_per_eval, or a "
        "smaller num_eval_images, would help",
        100 * evaluations);
  }
  const double checkpoints = Ratio(times.checkpoints, times.total);
  if (checkpoints >= kLongCheckpoints) {
    text += fmt::format(
        "\ncheckpoints took {:.0f} % of the run: a larger "
        "steps_per_checkpoint, or use_async_checkpointing, would help",
        100 * checkpoints);
  }
  return text;
}

}  // namespace

std::string TrainVerdict(const RunTimes& times, const PipelineStats& input,
                         std::int64_t iterations_per_loop) {
  return InputText(times, input) + WarmUpText(times) +
         BetweenText(times, iterations_per_loop) + PausesText(times);
}

}  // namespace infeed
