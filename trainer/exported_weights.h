#pragma once

#include "trainer/host_tensor.h"
#include "trainer/train_params.h"

namespace infeed {

// What of a training's state is exported: parameters and buffers, or, with
// export_moving_average, for each the average that the training kept under
// NAME/average beside the optimizer's. Throws UsageError when it kept none.
[[nodiscard]] TensorMap ExportedWeights(const TrainParams& params,
                                        const ModelState& state);

}  // namespace infeed
