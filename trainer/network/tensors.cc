#include "trainer/network/tensors.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

#include <ATen/ATen.h>

#include "base/rounding.h"

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

// The block of a tensor's name: for "layer1.0.conv1.weight" group 1, block 0.
// The stem is group 0; no other layers have a place.
struct BlockPlace {
  int group = 0;
  int block = 0;
};

std::optional<BlockPlace> PlaceOf(const std::string& name) {
  constexpr std::string_view kGroup = "layer";
  if (name.starts_with(kGroup)) {
    return BlockPlace{.group = std::stoi(name.substr(kGroup.size())),
                      .block = std::stoi(name.substr(name.find('.') + 1))};
  }
  const bool is_stem = name.starts_with("conv1") || name.starts_with("bn1") ||
                       name.starts_with("maxpool");
  return is_stem ? std::optional(BlockPlace{}) : std::nullopt;
}

}  // namespace

std::vector<int> LayersFromEnd(const std::vector<std::string>& names,
                               int most_blocks) {
  std::map<int, std::map<int, int>> layers;  // by group and block
  for (const std::string& name : names) {
    if (const std::optional<BlockPlace> place = PlaceOf(name)) {
      layers[place->group][place->block] = 0;
    }
  }
  int from_end = 0;
  for (auto group = layers.rbegin(); group != layers.rend(); ++group) {
    const int blocks = static_cast<int>(group->second.size());
    const int in_layer = CeilDiv(blocks, CeilDiv(blocks, most_blocks));
    from_end += CeilDiv(blocks, in_layer);
    int before = 0;
    for (auto& [block, layer] : group->second) {
      layer = from_end - before++ / in_layer;
    }
  }
  std::vector<int> of_names;
  for (const std::string& name : names) {
    const std::optional<BlockPlace> place = PlaceOf(name);
    of_names.push_back(place ? layers[place->group][place->block] : 0);
  }
  return of_names;
}

std::vector<OptimizedParameter> ParametersOf(const Network& model,
                                             const OptimizerOptions& options) {
  const auto& entries = model.named_parameters();
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    names.push_back(entry.key());
  }
  const std::vector<int> layers =
      LayersFromEnd(names, options.layer_decay_blocks);
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
             (model.IsOfClassifier(names[i]) ? 1 : options.body_rate_factor),
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
