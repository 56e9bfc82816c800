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

// What a training run is told while it goes on: TrainLog makes files and lines
// of it, on rank 0; the other ranks' tells nobody.
//
// One thread at a time: Step() runs in the outfeed's thread while a loop runs,
// the rest before its first step or after Outfeed::Drain(). Throws IoError.
class RunLog {
 public:
  virtual ~RunLog() = default;

  // waited: for how long the device has waited for its infeed so far, in all,
  // in seconds; here and below.
  virtual void BeginLoop(double waited) = 0;
  // Some of the first batch's images.
  virtual void FirstBatch(const Batch& batch) = 0;
  virtual void Step(const StepResult& result, double waited) = 0;
  // What the input did in this loop, and in all.
  virtual void EndLoop(const LoopEnd& end, const PipelineStats& input,
                       const PipelineStats& of_all_loops) = 0;
  virtual void Evaluation(std::int64_t step, const EvalResult& result) = 0;
  virtual void CheckpointWritten(std::int64_t step,
                                 const std::string& folder) = 0;
  // Of the run.
  virtual void End(std::int64_t step, RunEnd end) = 0;
  // Prints a line beside whatever else is shown.
  virtual void Say(const std::string& line) = 0;

  // Without the warm-up, unless there is nothing else.
  [[nodiscard]] virtual double images_per_second() const = 0;
  // What the device reached, in words.
  [[nodiscard]] virtual std::string device_text() const = 0;
  [[nodiscard]] virtual RunTimes times() const = 0;
};

// One that tells nobody, and knows no times.
[[nodiscard]] std::unique_ptr<RunLog> UnheardLog();

}  // namespace infeed
