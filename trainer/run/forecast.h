#pragma once

#include "trainer/feed/data_set.h"
#include "trainer/params/run_options.h"
#include "trainer/params/train_params.h"
#include "trainer/run/preparation.h"

namespace infeed {

// Checks that a dry run adds to the run's own preparation, for problems that a
// run would find only later: the labels of all records, one batch, the
// input workers, and the space for memory and checkpoints. Prints the results.
// Requires: the parameters are resolved.
void Forecast(const RunOptions& options, const DataSet& data,
              const TrainParams& params, Preparation& preparation);

}  // namespace infeed
