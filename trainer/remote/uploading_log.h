#pragma once

#include <functional>
#include <memory>
#include <string>

#include "trainer/log/run_log.h"

namespace infeed {

// Forwards every call to another log, then calls a function after a checkpoint
// and after the end of the run, so that the new files are uploaded.
//
// Threads and errors as in RunLog.
class UploadingLog final : public RunLog {
 public:
  struct Hearers {
    std::function<void(std::int64_t step, const std::string& folder)>
        checkpoint;
    std::function<void()> end;
  };

  UploadingLog(std::unique_ptr<RunLog> log, Hearers hearers);

  void BeginLoop(double waited) override;
  void FirstBatch(const Batch& batch) override;
  void Step(const StepResult& result, double waited) override;
  void EndLoop(const LoopEnd& end, const PipelineStats& input,
               const PipelineStats& of_all_loops) override;
  void Evaluation(std::int64_t step, const EvalResult& result) override;
  void CheckpointWritten(std::int64_t step, const std::string& folder) override;
  void End(std::int64_t step, RunEnd end) override;
  void Say(const std::string& line) override;

  [[nodiscard]] double images_per_second() const override;
  [[nodiscard]] std::string device_text() const override;
  [[nodiscard]] RunTimes times() const override;

 private:
  std::unique_ptr<RunLog> log_;
  Hearers hearers_;
};

}  // namespace infeed
