#pragma once

#include "base/program_end.h"
#include "trainer/job/run_options.h"

namespace infeed {

// Checks everything that a run needs, writes no files, and prints on stderr
// what would run and every problem found. Checks the data (makes one batch),
// the parameters, the device and the model on it, memory, and the disk space
// for checkpoints. Returns kDone, or the exit code of the run's first problem.
[[nodiscard]] ProgramEnd DryRun(const RunOptions& options);

}  // namespace infeed
