#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/program_end.h"
#include "trainer/log/findings.h"
#include "trainer/params/run_options.h"

namespace infeed {

// The parameters as YAML, for --print_config; if there is a data_dir, with the
// values that follow from the data. Throws as Run() does.
[[nodiscard]] std::string ConfigText(const RunOptions& options);

// The whole job of train_resnet: from shards and parameters to a model
// directory. A run is its preparation, then its work; a dry run is the
// preparation, and prints every problem that it finds, with the exit code of
// the run's first one. Prints progress on stderr, results on stdout. A stop
// request ends the training after the current step, with a checkpoint. Returns
// kDone, kStoppedBySignal, kCheckpointUnusable or kNonFiniteLoss; throws the
// errors of base/error.h.
//
// With several ranks, all train and evaluate together and return the same code;
// only rank 0 writes and prints on stderr. Modes for a single process (predict,
// export, replay, a dry run) run on rank 0 only. Requires: the mode is neither
// kCompare nor kDoctor.
[[nodiscard]] ProgramEnd Run(const RunOptions& options,
                             const std::stop_token& stop);

// The mode kDoctor: examines this machine, the device and, where it is given,
// the data. Needs no model.
[[nodiscard]] std::vector<Finding> Examine(const RunOptions& options);

}  // namespace infeed
