#pragma once

#include <stop_token>

#include "trainer/params/params.h"
#include "trainer/params/run_options.h"

namespace infeed {

// Makes a trained model's parameters the defaults: in modes that use a trained
// model, puts model_dir's params.yaml below the other layers. Throws IoError.
void TakeModelParameters(const RunOptions& run, ParamLayers& layers);

// An evaluation that follows a training run may be started before it: waits up
// to eval_timeout for the training run's params.yaml, and takes it as above;
// rank 0 prints that it waits. For other runs does nothing. Returns false when
// the run was asked to stop. Throws UsageError when no params.yaml appeared.
[[nodiscard]] bool AwaitModelParameters(RunOptions& run, ParamLayers& layers,
                                        const std::stop_token& stop);

}  // namespace infeed
