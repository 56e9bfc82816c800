#pragma once

#include "trainer/job.h"
#include "trainer/run_log.h"
#include "trainer/training.h"

namespace infeed {

// Prints on stderr what a training came to: its speed, what its input did, and
// which of the two was the slower. Of rank 0, but for a line on all ranks.
void PrintSummary(const Job& job, const Training& training, const RunLog& log);

}  // namespace infeed
