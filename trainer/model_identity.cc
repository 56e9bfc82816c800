#include "trainer/model_identity.h"

#include <cstddef>

#include <fmt/format.h>

namespace infeed {
namespace {

// Those of a ResNet's geometry, beside its depth; values as JSON.
RunIdentity GeometryOf(const TrainParams& params) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  return {{"model_variant", '"' + params.model_variant + '"'},
          {"pre_activation", text(params.pre_activation)},
          {"small_stem", text(params.small_stem)},
          {"use_resnetd_stem", text(params.use_resnetd_stem)},
          {"resnetd_shortcut", text(params.resnetd_shortcut)},
          {"replace_stem_max_pool", text(params.replace_stem_max_pool)},
          {"se_ratio", fmt::format("{}", params.se_ratio)}};
}

}  // namespace

std::string ModelNameOf(const TrainParams& params) {
  if (params.model == "lenet") {
    return "LeNet-5";
  }
  const RunIdentity geometry = GeometryOf(params);
  const RunIdentity defaults = GeometryOf(TrainParams());
  std::string others;
  for (std::size_t i = 0; i < geometry.size(); ++i) {
    const auto& [name, value] = geometry[i];
    if (value != defaults[i].value) {
      std::string bare = value;
      std::erase(bare, '"');
      others += (others.empty() ? "" : ", ") + name;
      others += value == "true" ? "" : "=" + bare;
    }
  }
  return fmt::format("ResNet-{}{}", params.resnet_depth,
                     others.empty() ? "" : " (" + others + ")");
}

RunIdentity ModelIdentityOf(const TrainParams& params) {
  RunIdentity identity = {
      {"model", '"' + params.model + '"'},
      {"num_label_classes", std::to_string(params.num_label_classes)}};
  if (params.model == "resnet") {
    identity.push_back({"resnet_depth", std::to_string(params.resnet_depth)});
    for (const auto& field : GeometryOf(params)) {
      identity.push_back(field);
    }
  }
  return identity;
}

}  // namespace infeed
