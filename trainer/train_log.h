#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/stats.h"
#include "trainer/evaluation.h"
#include "trainer/metrics_log.h"
#include "trainer/outfeed.h"
#include "trainer/progress.h"
#include "trainer/summary_writer.h"

namespace infeed {

struct TrainLogOptions {
  std::string model_dir;
  int batch_size = 1;  // global
  std::int64_t train_images = 1;
  std::int64_t first_step = 0;  // of this run
  std::int64_t total_steps = 0;
  std::int64_t steps_per_line = 1;  // in metrics.jsonl and the events; > 0
};

// Everything that a training run tells: each step's result as it leaves the
// outfeed goes into metrics.jsonl, the TensorBoard events and the progress
// line; loops, evaluations and checkpoints likewise.
//
// One thread at a time: Step() runs in the outfeed's thread while a loop runs,
// the rest after Outfeed::Drain(). Throws IoError.
class TrainLog {
 public:
  explicit TrainLog(const TrainLogOptions& options);

  void Step(const StepResult& result);
  // A loop has ended. input_wait is its fraction of the time, 0..1.
  void Loop(std::int64_t steps, double seconds, double input_wait);
  // What the input did in the loop that is about to be told.
  void Input(const PipelineStats& interval);
  void Evaluation(std::int64_t step, const EvalResult& result);
  void CheckpointWritten(std::int64_t step, const std::string& folder);
  // Writes the last line of metrics.jsonl.
  void End(std::int64_t step);
  // Prints a line beside the progress line.
  void Say(const std::string& line);

  // The first step whose loss was not finite.
  [[nodiscard]] std::optional<std::int64_t> non_finite_step() const {
    return non_finite_step_;
  }
  // Over the loops after the first, or over that while it is the only one.
  [[nodiscard]] double images_per_second() const;

 private:
  using Clock = std::chrono::steady_clock;

  void UpdateRate();
  void WriteStep(const StepResult& result);

  TrainLogOptions options_;
  MetricsLog metrics_;
  SummaryWriter summaries_;
  SummaryWriter eval_summaries_;
  ProgressLine progress_;
  ProgressState state_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> last_step_;
  std::optional<std::int64_t> non_finite_step_;
  std::int64_t loops_ = 0;
  std::int64_t first_loop_steps_ = 0;
  double first_loop_seconds_ = 0;
  std::int64_t steady_steps_ = 0;
  double steady_seconds_ = 0;
};

}  // namespace infeed
