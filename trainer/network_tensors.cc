#include "trainer/network_tensors.h"

#include <ATen/ATen.h>

namespace infeed {

std::vector<OptimizedParameter> ParametersOf(const Network& model,
                                             const OptimizerOptions& options) {
  std::vector<OptimizedParameter> parameters;
  for (const auto& entry : model.named_parameters()) {
    if (entry.value().requires_grad()) {
      parameters.push_back(
          {.name = entry.key(),
           .weight = entry.value(),
           .decayed = IsDecayed(model.KindOf(entry.key()), options)});
    }
  }
  return parameters;
}

NamedTensors StatisticsOf(const Network& model) {
  NamedTensors statistics;
  for (const auto& entry : model.named_buffers()) {
    if (entry.value().is_floating_point()) {
      statistics.emplace_back(entry.key(), entry.value());
    }
  }
  return statistics;
}

}  // namespace infeed
