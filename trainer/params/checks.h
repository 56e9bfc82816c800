#pragma once

#include "trainer/params/train_params.h"

namespace infeed {

// Throws UsageError, "A=1 and B=2: REASON", for values that are each valid but
// exclude each other. Parameters that are not given are not checked.
// PlanResNet() checks whether the model can be built.
void CheckTogether(const TrainParams& params);

}  // namespace infeed
