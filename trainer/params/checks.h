#pragma once

#include "trainer/params/train_params.h"

namespace infeed {

// Throws UsageError, "A=1 and B=2: why they do not go together", for values
// that are good each by itself. What is not given does not count. Whether a
// model can be built at all is PlanResNet's to say.
void CheckTogether(const TrainParams& params);

}  // namespace infeed
