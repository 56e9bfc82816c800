#pragma once

#include <vector>

#include "trainer/model/layer_plan.h"
#include "trainer/model/options.h"
#include "trainer/model/resnet_plan.h"

namespace infeed {

// A network's layers that have tensors. Those of a ResNet are in the order in
// which the reference driver creates its variables: a block's shortcut before
// its branch, a pre-activation block's first norm before both. So the k-th
// convolution (norm) is the reference's "conv2d_<k>"
// ("batch_normalization_<k>"), the first one without a number. Throws as
// PlanResNet() does.
[[nodiscard]] std::vector<LayerPlan> PlanLayers(const ModelOptions& options);

[[nodiscard]] std::vector<LayerPlan> PlanLayers(const ResNetPlan& plan);

// LeNet-5 as in the X10 tutorial: conv1 and conv2 (5x5), then fc1, fc2, fc3,
// all with biases. Throws UsageError for num_classes < 1.
[[nodiscard]] std::vector<LayerPlan> LeNetLayers(int num_classes);

}  // namespace infeed
