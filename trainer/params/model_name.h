#pragma once

#include <string>

#include "trainer/model/options.h"
#include "trainer/params/train_params.h"

namespace infeed {

// What kind of model the parameters name.
[[nodiscard]] ModelKind ModelKindOf(const TrainParams& params);

// "ResNet-50", "LeNet-5".
[[nodiscard]] std::string ModelName(const TrainParams& params);

}  // namespace infeed
