#pragma once

#include "trainer/job/job.h"
#include "trainer/job/training.h"
#include "trainer/log/run_log.h"

namespace infeed {

// Prints on stderr a summary of a training run: its speed, its input, and which
// of the two was slower. Values are those of rank 0, except the ones over all
// ranks; all ranks must call it.
void PrintSummary(const Job& job, const Training& training, const RunLog& log);

}  // namespace infeed
