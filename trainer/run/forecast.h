#pragma once

#include "trainer/job/data_set.h"
#include "trainer/job/run_options.h"
#include "trainer/params/train_params.h"
#include "trainer/run/preparation.h"

namespace infeed {

// What a dry run checks beside the run's own preparation, since a run would
// find it only while it works: the labels of all records, one batch, and the
// space for memory and checkpoints. Prints what it finds. Requires: the
// parameters are resolved.
void Forecast(const RunOptions& options, const DataSet& data,
              const TrainParams& params, Preparation& preparation);

}  // namespace infeed
