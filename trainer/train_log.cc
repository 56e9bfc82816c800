#include "trainer/train_log.h"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

#include "pipeline/stats_scalars.h"
#include "trainer/model_dir.h"

namespace infeed {
namespace {

// Weight of the newest step in the rate that the progress line shows: about
// the last ten steps count.
constexpr double kNewestWeight = 0.1;

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

ProgressState StartState(const TrainLogOptions& options) {
  ProgressState state;
  state.step = options.first_step;
  state.first_step = options.first_step;
  state.total_steps = options.total_steps;
  return state;
}

}  // namespace

TrainLog::TrainLog(const TrainLogOptions& options)
    : options_(options),
      metrics_(options.model_dir),
      summaries_(options.model_dir),
      eval_summaries_(EvalFolder(options.model_dir)),
      state_(StartState(options)) {}

void TrainLog::UpdateRate() {
  const Clock::time_point now = Clock::now();
  if (last_step_) {
    const double rate = options_.batch_size / Seconds(now - *last_step_);
    state_.images_per_second +=
        state_.images_per_second == 0
            ? rate
            : kNewestWeight * (rate - state_.images_per_second);
  }
  last_step_ = now;
}

void TrainLog::Step(const StepResult& result) {
  UpdateRate();
  if (!std::isfinite(result.loss) && !non_finite_step_) {
    non_finite_step_ = result.step;
  }
  state_.step = result.step;
  state_.elapsed_seconds = Seconds(Clock::now() - start_);
  state_.loss = result.loss;
  state_.top_1 = result.top_1;
  state_.learning_rate = result.learning_rate;
  if (result.step % options_.steps_per_line == 0) {
    WriteStep(result);
  }
  progress_.Update(ProgressText(state_));
}

void TrainLog::WriteStep(const StepResult& result) {
  metrics_.Write("train", result.step,
                 {{"loss", result.loss},
                  {"top_1", result.top_1},
                  {"learning_rate", result.learning_rate},
                  {"images_per_second", state_.images_per_second},
                  {"input_wait", state_.input_wait}});
  summaries_.Scalar("loss", result.loss, result.step);
  summaries_.Scalar("top_1_accuracy", result.top_1, result.step);
  summaries_.Scalar("learning_rate", result.learning_rate, result.step);
  summaries_.Scalar("current_epoch",
                    static_cast<double>(result.step) * options_.batch_size /
                        static_cast<double>(options_.train_images),
                    result.step);
}

void TrainLog::Loop(std::int64_t steps, double seconds, double input_wait) {
  state_.input_wait = input_wait;
  last_step_.reset();  // What happens between loops is not a step's time.
  if (loops_++ == 0) {
    first_loop_steps_ = steps;
    first_loop_seconds_ = seconds;
    Say(
        fmt::format("first loop: {} steps in {:.1f} s (warm-up, left out of "
                    "the images/s below)",
                    steps, seconds));
  } else {
    steady_steps_ += steps;
    steady_seconds_ += seconds;
  }
  summaries_.Scalar("examples/sec",
                    static_cast<double>(steps) * options_.batch_size / seconds,
                    state_.step);
  summaries_.Scalar("input_wait", input_wait, state_.step);
  summaries_.Flush();
  progress_.Update(ProgressText(state_));
}

void TrainLog::Input(const PipelineStats& interval) {
  for (const infeed::Scalar& scalar : StatsScalars(interval)) {
    summaries_.Scalar(scalar.tag, scalar.value, state_.step);
  }
}

void TrainLog::Evaluation(std::int64_t step, const EvalResult& result) {
  metrics_.Write("eval", step,
                 {{"loss", result.loss},
                  {"top_1", result.top_1},
                  {"top_5", result.top_5},
                  {"images", static_cast<double>(result.images)},
                  {"images_per_second", result.images_per_second},
                  {"input_wait", result.input_wait}});
  eval_summaries_.Scalar("top_1_accuracy", result.top_1, step);
  eval_summaries_.Scalar("top_5_accuracy", result.top_5, step);
  eval_summaries_.Scalar("loss", result.loss, step);
  eval_summaries_.Flush();
  Say(EvalText(step, result));
}

void TrainLog::CheckpointWritten(std::int64_t step, const std::string& folder) {
  metrics_.Write("checkpoint", step, {});
  Say(fmt::format("checkpoint at step {}: {}", step, folder));
}

void TrainLog::End(std::int64_t step) {
  progress_.Finish();
  metrics_.Write("end", step,
                 {{"images_per_second", images_per_second()},
                  {"input_wait", state_.input_wait}});
  summaries_.Flush();
}

void TrainLog::Say(const std::string& line) {
  progress_.Finish();
  fmt::print(stderr, "{}\n", line);
}

double TrainLog::images_per_second() const {
  const bool steady = steady_steps_ > 0;
  const double seconds = steady ? steady_seconds_ : first_loop_seconds_;
  const std::int64_t steps = steady ? steady_steps_ : first_loop_steps_;
  return seconds > 0
             ? static_cast<double>(steps) * options_.batch_size / seconds
             : 0;
}

}  // namespace infeed
