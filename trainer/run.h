#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "base/error.h"
#include "pipeline/live_stats.h"
#include "pipeline/trace_log.h"
#include "trainer/params.h"

namespace infeed {

enum class Mode { kTrain, kEval, kTrainAndEval };

// "train", "eval", "train_and_eval". Throws UsageError.
[[nodiscard]] Mode ParseMode(std::string_view name);

struct RunOptions {
  std::string data_dir;
  std::string model_dir;
  Mode mode = Mode::kTrainAndEval;
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  // Resume from a checkpoint that another data set or configuration wrote.
  bool force = false;
  // Check data, parameters, device and memory, say what would run, and end.
  bool dry_run = false;
  // Who watches; both may be null, and must outlive the run.
  LiveStats* live_stats = nullptr;  // is shown the training's input
  TraceLog* trace = nullptr;        // gets the spans of every input pipeline
  RunParams params;  // layered; what the data decides is still open
};

// The whole job of train_resnet: from shards and parameters to a model folder.
// Prints what it does on stderr, results on stdout. A request to stop ends the
// training after the step at hand, with a checkpoint. Returns kDone,
// kStoppedBySignal, kCheckpointUnusable or kNonFiniteLoss; throws the errors of
// base/error.h.
[[nodiscard]] ExitCode Run(const RunOptions& options,
                           const std::stop_token& stop);

}  // namespace infeed
