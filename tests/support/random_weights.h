#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/support/tensors.h"
#include "trainer/formats/host_tensor.h"
#include "trainer/model/layers.h"
#include "trainer/model/options.h"

namespace infeed {

// A tensor of a trained-looking model: values differ from initial ones, and
// activations neither grow nor vanish with the depth.
inline HostTensor RandomWeight(const TensorPlan& plan, std::mt19937& random) {
  if (plan.name.ends_with("num_batches_tracked")) {
    return IntTensor(7);
  }
  const auto elements = static_cast<std::size_t>(CountElements(plan));
  std::vector<float> values(elements);
  float centre = 0;
  float spread = 0.1F;
  if (plan.shape.size() > 1) {
    const auto fan_in = static_cast<float>(CountElements(plan) / plan.shape[0]);
    spread = std::sqrt(2 / fan_in);
  } else if (plan.name.ends_with("running_var") ||
             (plan.kind == ParameterKind::kNorm &&
              plan.name.ends_with("weight"))) {
    centre = 0.8F;
  }
  for (float& value : values) {
    const float draw = static_cast<float>(random()) * 0x1p-31F - 1;
    value = centre + spread * draw;
  }
  return FloatTensor(values, plan.shape);
}

// All tensors that a model's checkpoint has; the same for the same options.
inline TensorMap RandomWeights(const ModelOptions& options) {
  std::mt19937 random(5);
  TensorMap weights;
  for (const LayerPlan& layer : PlanLayers(options)) {
    for (const TensorPlan& plan : TensorsOf(layer)) {
      weights[plan.name] = RandomWeight(plan, random);
    }
  }
  return weights;
}

}  // namespace infeed
