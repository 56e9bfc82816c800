#pragma once

#include <stop_token>
#include <string>

#include "base/error.h"
#include "trainer/job/run_options.h"

namespace infeed {

// The parameters as YAML, for --print_config: with what the data decides, where
// there is a data_dir. Throws as Run() does.
[[nodiscard]] std::string ConfigText(const RunOptions& options);

// The whole job of train_resnet: from shards and parameters to a model folder.
// Prints what it does on stderr, results on stdout. A request to stop ends the
// training after the step at hand, with a checkpoint. Returns kDone,
// kStoppedBySignal, kCheckpointUnusable or kNonFiniteLoss; throws the errors of
// base/error.h.
//
// One of several ranks trains and evaluates with the others, and returns what
// they return; rank 0 alone writes and prints on stderr. What is no work for
// several (predict, export, doctor, a dry run) rank 0 does alone.
[[nodiscard]] ExitCode Run(const RunOptions& options,
                           const std::stop_token& stop);

}  // namespace infeed
