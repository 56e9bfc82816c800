#pragma once

#include <cstdint>
#include <string>

#include "pipeline/memory/batch.h"
#include "pipeline/stats/stats.h"
#include "trainer/feed/outfeed.h"
#include "trainer/log/run_clock.h"
#include "trainer/log/run_history.h"
#include "trainer/results/eval_result.h"

namespace infeed {

// Receives the events of a training run. On rank 0, TrainLog writes them to
// files and prints lines; the other ranks have this class, which ignores them.
//
// One thread at a time: Step() runs in the outfeed's thread while a loop runs,
// the rest before its first step or after Outfeed::Drain(). Throws IoError.
class RunLog {
 public:
  virtual ~RunLog() = default;

  // waited: the total time in seconds that the device has waited for its infeed
  // so far; here and below.
  virtual void BeginLoop(double /*waited*/) {}
  // The first batch, to show some of its images.
  virtual void FirstBatch(const Batch& /*batch*/) {}
  virtual void Step(const StepResult& /*result*/, double /*waited*/) {}
  // input: statistics of this loop; of_all_loops: of all loops so far.
  virtual void EndLoop(const LoopEnd& /*end*/, const PipelineStats& /*input*/,
                       const PipelineStats& /*of_all_loops*/) {}
  virtual void Evaluation(std::int64_t /*step*/, const EvalResult& /*result*/) {
  }
  virtual void CheckpointWritten(std::int64_t /*step*/,
                                 const std::string& /*folder*/) {}
  virtual void End(std::int64_t /*step*/, RunEnd /*end*/) {}
  // Prints a line, without disturbing the progress line.
  virtual void Say(const std::string& /*line*/) {}

  // DeviceUseText() of the run.
  [[nodiscard]] virtual std::string device_text() const { return ""; }
  [[nodiscard]] virtual RunTimes times() const { return {}; }
};

}  // namespace infeed
