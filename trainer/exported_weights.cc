#include "trainer/exported_weights.h"

#include "base/error.h"

namespace infeed {

TensorMap ExportedWeights(const TrainParams& params, const ModelState& state) {
  TensorMap weights = state.model;
  if (!params.export_moving_average) {
    return weights;
  }
  bool found = false;
  for (auto& [name, tensor] : weights) {
    // What is only counted has no average.
    const auto average = state.optimizer.find(name + "/average");
    if (average != state.optimizer.end()) {
      tensor = average->second;
      found = true;
    }
  }
  if (!found) {
    throw UsageError(
        "export_moving_average: the training kept no average of its weights; "
        "moving_average_decay has it kept");
  }
  return weights;
}

}  // namespace infeed
