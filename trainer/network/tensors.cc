#include "trainer/network/tensors.h"

#include <cmath>
#include <cstddef>
#include <map>

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

// "layer1.0" of "layer1.0.conv1.weight"; "" for names outside of blocks.
std::string BlockOf(const std::string& name) {
  return name.starts_with("layer") ? name.substr(0, name.find('.', 7)) : "";
}

}  // namespace

std::vector<int> LayersFromEnd(const std::vector<std::string>& names) {
  std::map<std::string, int> blocks;  // with at most 99 blocks in a group
  const auto key = [](std::string block) {
    return block.size() == 8 ? block.insert(7, "0") : block;
  };
  for (const std::string& name : names) {
    blocks[key(BlockOf(name))] = 0;
  }
  blocks.erase("");
  int below = 0;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    block->second = ++below;
  }
  std::vector<int> layers;
  for (const std::string& name : names) {
    const bool is_stem = name.starts_with("conv1") || name.starts_with("bn1") ||
                         name.starts_with("maxpool");
    const auto block = blocks.find(key(BlockOf(name)));
    layers.push_back(is_stem                 ? below + 1
                     : block != blocks.end() ? block->second
                                             : 0);
  }
  return layers;
}

std::vector<OptimizedParameter> ParametersOf(const Network& model,
                                             const OptimizerOptions& options) {
  const auto& entries = model.named_parameters();
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    names.push_back(entry.key());
  }
  const std::vector<int> layers = LayersFromEnd(names);
  std::vector<OptimizedParameter> parameters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const torch::Tensor& weight = entries[i].value();
    if (!weight.requires_grad()) {
      continue;
    }
    const ParameterKind kind = model.KindOf(names[i]);
    const bool has_own =
        kind == ParameterKind::kNorm && options.norm_weight_decay >= 0;
    const bool decayed =
        has_own ? options.norm_weight_decay > 0 : IsDecayed(kind, options);
    parameters.push_back(
        {.name = names[i],
         .weight = weight,
         .decayed = decayed,
         .rate_factor =
             std::pow(options.layer_decay, layers[i]) *
             (model.IsOfClassifier(names[i]) ? options.head_rate_factor
                                             : options.body_rate_factor),
         .decay_factor = has_own && decayed
                             ? options.norm_weight_decay / options.weight_decay
                             : 1});
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
