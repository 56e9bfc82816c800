#pragma once

#include <string>

#include "trainer/checkpoint.h"
#include "trainer/train_params.h"

// What a run's parameters say of its network, for people and for resuming.
namespace infeed {

// "ResNet-50", "ResNet-50 (model_variant=tpu, se_ratio=0.25)", "LeNet-5": what
// is not said is as in torchvision's.
[[nodiscard]] std::string ModelNameOf(const TrainParams& params);

// The parameters that decide which tensors the network has and what it
// computes: a run does not go on from a checkpoint where one differs.
[[nodiscard]] RunIdentity ModelIdentityOf(const TrainParams& params);

}  // namespace infeed
