#include "trainer/network/tensors.h"

#include <ATen/ATen.h>

namespace infeed {
namespace {

NamedTensors Named(
    const torch::OrderedDict<std::string, torch::Tensor>& entries) {
  NamedTensors tensors;
  for (const auto& entry : entries) {
    tensors.emplace_back(entry.key(), entry.value());
  }
  return tensors;
}

}  // namespace

std::vector<OptimizedParameter> ParametersOf(const Network& model,
                                             const OptimizerOptions& options) {
  std::vector<OptimizedParameter> parameters;
  for (const auto& entry : model.named_parameters()) {
    if (entry.value().requires_grad()) {
      parameters.push_back(
          {.name = entry.key(),
           .weight = entry.value(),
           .decayed = IsDecayed(model.KindOf(entry.key()), options),
           .rate_factor = model.IsOfClassifier(entry.key())
                              ? 1
                              : options.body_rate_factor});
    }
  }
  return parameters;
}

NamedTensors WeightsOf(const Network& model) {
  return Named(model.named_parameters());
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

NamedTensors TensorsOf(const Network& model) {
  NamedTensors tensors = WeightsOf(model);
  const NamedTensors buffers = Named(model.named_buffers());
  tensors.insert(tensors.end(), buffers.begin(), buffers.end());
  return tensors;
}

}  // namespace infeed
