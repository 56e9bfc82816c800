#pragma once

#include <stop_token>

#include "trainer/job/run_options.h"
#include "trainer/params/params.h"

namespace infeed {

// A trained model has its own parameters unless told otherwise: puts the
// model_dir's params.yaml below the other layers, for the modes that use such a
// model. Throws IoError.
void TakeParametersOfModel(const RunOptions& run, ParamLayers& layers);

// An evaluation that follows a training may be started before it: waits for the
// training's params.yaml up to eval_timeout, and takes it as above; rank 0
// prints that it waits. For other runs it does nothing. Returns false when it
// was asked to stop. Throws UsageError when no params.yaml came.
[[nodiscard]] bool AwaitParametersOfModel(RunOptions& run, ParamLayers& layers,
                                          const std::stop_token& stop);

}  // namespace infeed
