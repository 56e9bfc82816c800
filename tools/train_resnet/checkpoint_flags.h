#pragma once

#include <string>

#include "trainer/job/run_options.h"

namespace CLI {
class App;
}

// The flags of train_resnet that choose a checkpoint.
namespace infeed {

struct CheckpointFlags {
  std::string checkpoint;  // best, newest or a step; "": not given
};

// Adds --resume, --checkpoint, --force and --eval_timeout. run and flags must
// outlive the app.
void AddCheckpointFlags(CLI::App& app, RunOptions& run, CheckpointFlags& flags);

// Sets RunOptions::resume from --checkpoint. Throws UsageError for a mode that
// trains, an invalid value, and other flags that choose a checkpoint.
void TakeCheckpoint(const CheckpointFlags& flags, RunOptions& run);

}  // namespace infeed
