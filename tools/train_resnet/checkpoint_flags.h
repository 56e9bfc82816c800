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

// Adds --resume, --checkpoint, --force and --eval_timeout. Both must outlive
// the app.
void AddCheckpointFlags(CLI::App& app, RunOptions& run, CheckpointFlags& flags);

// What --checkpoint chooses, as RunOptions::resume has it. Throws UsageError
// for a mode that trains, a value that it does not have, and beside flags that
// choose another one.
void TakeCheckpoint(const CheckpointFlags& flags, RunOptions& run);

}  // namespace infeed
