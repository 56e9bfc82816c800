#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/evaluation.h"
#include "trainer/job.h"
#include "trainer/metrics_log.h"

namespace infeed {

ExitCode EvalMode(const Job& job, const std::stop_token& stop) {
  bool unusable = false;
  const std::optional<Checkpoint> from = Restore(job, unusable);
  if (unusable) {
    return Unusable(job.options.model_dir);
  }
  if (!from) {
    throw UsageError("model_dir=" + job.options.model_dir +
                     ": no checkpoint to evaluate; train one first");
  }
  const std::optional<EvalResult> result =
      Evaluate(job.device, job.data.eval_index(), EvalInput(job), stop);
  if (!result) {
    return ExitCode::kStoppedBySignal;
  }
  MetricsLog(job.options.model_dir)
      .Write("eval", from->step,
             {{"loss", result->loss},
              {"top_1", result->top_1},
              {"top_5", result->top_5},
              {"images", static_cast<double>(result->images)}});
  fmt::print("{}\n", EvalText(from->step, *result));
  return ExitCode::kDone;
}

}  // namespace infeed
