#include "tools/train_resnet/checkpoint_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"

namespace infeed {

void AddCheckpointFlags(CLI::App& app, RunOptions& run,
                        CheckpointFlags& flags) {
  constexpr const char* kGroup = "Checkpoints";
  app.add_option("--resume", run.resume,
                 "Checkpoint to go on from: auto (the newest whole one), best, "
                 "never, a step, a path or URL.")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--checkpoint", flags.checkpoint,
                 "Checkpoint to eval, predict or export. [newest]")
      ->type_name("best|newest|STEP")
      ->group(kGroup);
  app.add_flag("--force", run.force,
               "Go on from a checkpoint of another data set or configuration, "
               "and drop those that a changed store never got.")
      ->group(kGroup);
  app.add_option("--eval_timeout", run.eval_timeout,
                 "Longest wait for each new checkpoint in mode eval.")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("SECONDS")
      ->group(kGroup);
}

void TakeCheckpoint(const CheckpointFlags& flags, RunOptions& run) {
  const std::string& asked = flags.checkpoint;
  if (asked.empty()) {
    return;
  }
  if (!UsesTrainedModel(run.mode)) {
    throw UsageError(
        "--checkpoint: is for the modes eval, predict and export; a training "
        "goes on from --resume");
  }
  if (run.resume != "auto" || run.eval_timeout) {
    throw UsageError(fmt::format(
        "--checkpoint={}: {} chooses the checkpoint as well; give one of them",
        asked, run.eval_timeout ? "--eval_timeout" : "--resume"));
  }
  const bool is_step =
      asked.find_first_not_of("0123456789") == std::string::npos;
  if (asked != "best" && asked != "newest" && !is_step) {
    throw UsageError(fmt::format(
        "--checkpoint={}: must be best, newest or a step; --resume takes a "
        "path",
        asked));
  }
  run.resume = asked == "newest" ? "auto" : asked;
}

}  // namespace infeed
