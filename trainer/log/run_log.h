#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/memory/batch.h"
#include "pipeline/stats/stats.h"
#include "trainer/feed/outfeed.h"
#include "trainer/log/run_clock.h"
#include "trainer/log/run_history.h"
#include "trainer/scores/eval_result.h"

namespace infeed {

// Receives the events of a training run. On rank 0, TrainLog writes them to
// files and prints lines; the other ranks have NullLog().
//
// One thread at a time: Step() runs in the outfeed's thread while a loop runs,
// the rest before its first step or after Outfeed::Drain(). Throws IoError.
class RunLog {
 public:
  virtual ~RunLog() = default;

  // waited: the total time in seconds that the device has waited for its infeed
  // so far; here and below.
  virtual void BeginLoop(double waited) = 0;
  // The first batch, to show some of its images.
  virtual void FirstBatch(const Batch& batch) = 0;
  virtual void Step(const StepResult& result, double waited) = 0;
  // input: statistics of this loop; of_all_loops: of all loops so far.
  virtual void EndLoop(const LoopEnd& end, const PipelineStats& input,
                       const PipelineStats& of_all_loops) = 0;
  virtual void Evaluation(std::int64_t step, const EvalResult& result) = 0;
  virtual void CheckpointWritten(std::int64_t step,
                                 const std::string& folder) = 0;
  // The end of the run.
  virtual void End(std::int64_t step, RunEnd end) = 0;
  // Prints a line, without disturbing the progress line.
  virtual void Say(const std::string& line) = 0;

  // Excludes the warm-up, unless there are no other steps.
  [[nodiscard]] virtual double images_per_second() const = 0;
  // DeviceUseText() of the run.
  [[nodiscard]] virtual std::string device_text() const = 0;
  [[nodiscard]] virtual RunTimes times() const = 0;
};

// A log that prints and writes nothing, and has no times.
[[nodiscard]] std::unique_ptr<RunLog> NullLog();

}  // namespace infeed
