#include "trainer/job.h"

#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/run_options.h"
#include "trainer/warm_start.h"

namespace infeed {

void Say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

InputOptions EvalInput(const Job& job) {
  InputOptions input = EvalInputOf(job.params);
  input.trace = job.options.trace;
  return input;
}

std::optional<Checkpoint> Restore(const Job& job, bool& unusable) {
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint =
      LoadNewestCheckpoint(job.options.model_dir, damaged);
  for (const std::string& message : damaged) {
    Say("damaged checkpoint, not used: " + message);
  }
  unusable = !checkpoint && !damaged.empty();
  if (!checkpoint) {
    return std::nullopt;
  }
  const std::string difference =
      FirstDifference(IdentityOf(job.params, job.data), checkpoint->identity);
  if (!difference.empty() && job.options.mode != Mode::kEval) {
    if (!job.options.force) {
      throw UsageError("model_dir=" + job.options.model_dir +
                       ": its checkpoint is of another run: " + difference +
                       "; give another model_dir, or --force to go on from it");
    }
    Say("going on in spite of a difference (--force): " + difference);
  }
  job.device.Load(checkpoint->state);
  Say(fmt::format("going on from the checkpoint at step {}", checkpoint->step));
  return checkpoint;
}

void StartFromWeights(const Job& job) {
  const std::string& path = job.params.resnet_checkpoint;
  if (path.empty()) {
    return;
  }
  ModelState state = job.device.Save();
  Say(WarmStart(path, ModelOf(job.params), state.model));
  job.device.Load(state);
}

ExitCode Unusable(const std::string& model_dir) {
  Say(model_dir +
      ": no checkpoint in it is whole; move them away to start anew");
  return ExitCode::kCheckpointUnusable;
}

}  // namespace infeed
