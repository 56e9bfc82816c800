#pragma once

#include "base/error.h"
#include "trainer/job/run_options.h"

namespace infeed {

// Looks at all that a run needs, writes nothing, and says on stderr what would
// run and every problem found: the data (one batch of it is made), the
// parameters, the device and the model on it, memory, and the disk for
// checkpoints. Returns kDone, or the code that the run would have ended with at
// its first problem.
[[nodiscard]] ExitCode DryRun(const RunOptions& options);

}  // namespace infeed
