#pragma once

#include <cstdint>
#include <memory>

#include "trainer/model/options.h"
#include "trainer/network/batch_norm.h"
#include "trainer/network/network.h"

namespace infeed {

// A ResNet as PlanResNet() describes it. Convolution weights are in
// channels_last order, which is fast on both CPUs and GPUs. Throws as
// PlanResNet() does.
[[nodiscard]] std::shared_ptr<Network> MakeResNet(const ModelOptions& options);

// A batch norm of a ResNet.
[[nodiscard]] BatchNorm MakeNorm(std::int64_t channels,
                                 const ModelOptions& options);

}  // namespace infeed
