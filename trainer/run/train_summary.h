#pragma once

#include "trainer/job/job.h"
#include "trainer/job/training.h"
#include "trainer/log/run_log.h"

namespace infeed {

// Prints on stderr what a training came to: its speed, what its input did, and
// which of the two was the slower. Of rank 0, but for what it says of all
// ranks, which all call it.
void PrintSummary(const Job& job, const Training& training, const RunLog& log);

}  // namespace infeed
