#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/charts/progress.h"
#include "base/print_lines.h"
#include "pipeline/options/options.h"
#include "trainer/log/epoch_lines.h"
#include "trainer/log/eval_log.h"
#include "trainer/log/profiler.h"
#include "trainer/log/report.h"
#include "trainer/log/run_clock.h"
#include "trainer/log/run_log.h"
#include "trainer/log/summary_writer.h"
#include "trainer/model/device_use.h"
#include "trainer/results/eval_result.h"
#include "trainer/results/eval_steps.h"
#include "trainer/results/metrics_log.h"

namespace infeed {

struct TrainLogOptions {
  std::string model_dir;
  std::int64_t train_images = 1;
  std::int64_t eval_images = 0;  // of one evaluation
  std::int64_t first_step = 0;   // of this run
  // Steps between two lines in metrics.jsonl and in the events; > 0.
  std::int64_t steps_per_line = 1;
  bool epoch_lines = false;  // each epoch must end with an evaluation
  std::optional<EvalSteps> evaluations = {};  // absent: none
  EvalSubject subject = {};                   // of the evaluations
  // Of the loops' fingerprints; absent: fake data, which has none.
  std::optional<InputHash> input_hash = InputHash::kRecords;
  bool skip_steps = false;         // no lines of steps, only of loops
  int warm_up_steps = 1;           // as in RunClockOptions
  std::string configuration = {};  // YAML; for TensorBoard
  DeviceCeilings ceilings = {};    // of the device, where measured
  ReportSubject report = {};
  EventValues start_values = {};  // of the event start, beside its own
  Profiler* profiler = nullptr;   // may be null; outlives the log
  std::function<void(const std::string& line)> say = PrintLine;
  // Called at the end of CheckpointWritten() and of End().
  std::function<void(std::int64_t step, const std::string& folder)>
      on_checkpoint = [](std::int64_t, const std::string&) {};
  std::function<void()> on_end = [] {};
};

// Writes all logs of a training run. Each step's result from the outfeed goes
// to metrics.jsonl, the TensorBoard events and the progress line, and so do
// loops, evaluations and checkpoints; the latter two also update the report.
// End() writes the last line of metrics.jsonl, and the report. With
// epoch_lines, prints EpochLine() on stdout after each epoch.
//
// Threads and errors as in RunLog.
class TrainLog final : public RunLog {
 public:
  explicit TrainLog(const TrainLogOptions& options);

  void BeginLoop(double waited) override {
    before_loop_ = clock_.times();
    clock_.BeginLoop(waited);
  }
  void FirstBatch(const Batch& batch) override;
  void Step(const StepResult& result, double waited) override;
  void EndLoop(const LoopEnd& end, const PipelineStats& input,
               const PipelineStats& of_all_loops) override;
  void Evaluation(std::int64_t step, const EvalResult& result) override;
  void CheckpointWritten(std::int64_t step, const std::string& folder) override;
  void End(std::int64_t step, RunEnd end) override;
  void Say(const std::string& line) override {
    progress_.Finish();
    options_.say(line);
  }

  [[nodiscard]] std::string device_text() const override {
    return DeviceUseText(clock_.times().device, options_.ceilings);
  }
  [[nodiscard]] RunTimes times() const override { return clock_.times(); }

 private:
  // The values that every event has.
  [[nodiscard]] EventValues State(double images_per_second,
                                  double input_wait) const;
  // The values of a step and of a loop.
  [[nodiscard]] EventValues StepState(double images_per_second,
                                      double input_wait) const;
  [[nodiscard]] std::optional<double> SecondsLeft() const;
  void PrintEpoch(std::int64_t step, const EvalResult& result);
  void WriteReport(std::int64_t step);
  void WriteProfile(const std::optional<Profile>& profile);
  void WriteWarmUp(const PipelineStats& input);
  void WriteLoop(const LoopEnd& end, const RunTimes& before,
                 std::int64_t bad_records);
  // To metrics.jsonl and TensorBoard.
  void Write(const std::string& event, std::int64_t step,
             const EventValues& values) {
    metrics_.Write(event, step, values);
    summaries_.Scalars(values, step);
  }

  TrainLogOptions options_;
  MetricsLog metrics_;
  Report report_;
  SummaryWriter summaries_;
  EvalLog evaluations_;
  ProgressLine progress_;
  RunClock clock_;
  ProgressState state_;
  RunTimes before_loop_;
  EpochTally tally_;
  StepResult newest_;
  double epoch_end_ = 0;  // of the last epoch, in seconds since the start
  ReportState report_state_;
};

}  // namespace infeed
