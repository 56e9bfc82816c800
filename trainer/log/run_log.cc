#include "trainer/log/run_log.h"

namespace infeed {
namespace {

class NullRunLog final : public RunLog {
 public:
  void BeginLoop(double /*waited*/) override {}
  void FirstBatch(const Batch& /*batch*/) override {}
  void Step(const StepResult& /*result*/, double /*waited*/) override {}
  void EndLoop(const LoopEnd& /*end*/, const PipelineStats& /*input*/,
               const PipelineStats& /*of_all_loops*/) override {}
  void Evaluation(std::int64_t /*step*/,
                  const EvalResult& /*result*/) override {}
  void CheckpointWritten(std::int64_t /*step*/,
                         const std::string& /*folder*/) override {}
  void End(std::int64_t /*step*/, RunEnd /*end*/) override {}
  void Say(const std::string& /*line*/) override {}
  [[nodiscard]] double images_per_second() const override { return 0; }
  [[nodiscard]] std::string device_text() const override { return ""; }
  [[nodiscard]] RunTimes times() const override { return {}; }
};

}  // namespace

std::unique_ptr<RunLog> NullLog() { return std::make_unique<NullRunLog>(); }

}  // namespace infeed
