#include "trainer/model/named_networks.h"

#include <algorithm>
#include <array>
#include <string>

namespace infeed {
namespace {

ModelOptions Plain(int depth) { return {.depth = depth}; }

ModelOptions Wide(int depth, int groups, int width_per_group) {
  return {.depth = depth, .groups = groups, .width_per_group = width_per_group};
}

ModelOptions WithDStem(ModelOptions shape) {
  shape.resnetd_stem = true;
  shape.resnetd_shortcut = true;
  return shape;
}

ModelOptions WithTStem(ModelOptions shape) {
  shape.resnett_stem = true;
  shape.resnetd_shortcut = true;
  return shape;
}

ModelOptions WithBlur(ModelOptions shape) {
  shape.blur_pool = true;
  return shape;
}

ModelOptions WithEca(ModelOptions shape) {
  shape.eca = true;
  return shape;
}

ModelOptions WithSe(ModelOptions shape, double ratio = 1.0 / 16) {
  shape.se_ratio = ratio;
  return shape;
}

ModelOptions Rs(int depth) {
  ModelOptions shape = WithSe(WithDStem(Plain(depth)), 0.25);
  shape.replace_stem_max_pool = true;
  return shape;
}

}  // namespace

std::span<const NamedNetwork> NamedNetworks() {
  static const std::array kNetworks = {
      NamedNetwork{"resnet18", kTorchvision, Plain(18)},
      NamedNetwork{"resnet34", kTorchvision, Plain(34)},
      NamedNetwork{"resnet50", kTorchvision, Plain(50)},
      NamedNetwork{"resnet101", kTorchvision, Plain(101)},
      NamedNetwork{"resnet152", kTorchvision, Plain(152)},
      NamedNetwork{"resnext50_32x4d", kTorchvision, Wide(50, 32, 4)},
      NamedNetwork{"resnext101_32x8d", kTorchvision, Wide(101, 32, 8)},
      NamedNetwork{"resnext101_64x4d", kTorchvision, Wide(101, 64, 4)},
      NamedNetwork{"wide_resnet50_2", kTorchvision, Wide(50, 1, 128)},
      NamedNetwork{"wide_resnet101_2", kTorchvision, Wide(101, 1, 128)},
      NamedNetwork{"resnet26", kTimm, Plain(26)},
      NamedNetwork{"resnet200", kTimm, Plain(200)},
      NamedNetwork{"resnet26d", kTimm, WithDStem(Plain(26))},
      NamedNetwork{"resnet50d", kTimm, WithDStem(Plain(50))},
      NamedNetwork{"resnet101d", kTimm, WithDStem(Plain(101))},
      NamedNetwork{"resnet152d", kTimm, WithDStem(Plain(152))},
      NamedNetwork{"resnet200d", kTimm, WithDStem(Plain(200))},
      NamedNetwork{"resnext101_32x4d", kTimm, Wide(101, 32, 4)},
      NamedNetwork{"resnext50d_32x4d", kTimm, WithDStem(Wide(50, 32, 4))},
      NamedNetwork{"seresnet50", kTimm, WithSe(Plain(50))},
      NamedNetwork{"seresnet101", kTimm, WithSe(Plain(101))},
      NamedNetwork{"seresnet152", kTimm, WithSe(Plain(152))},
      NamedNetwork{"seresnet152d", kTimm, WithSe(WithDStem(Plain(152)))},
      NamedNetwork{"seresnet200d", kTimm, WithSe(WithDStem(Plain(200)))},
      NamedNetwork{"seresnext50_32x4d", kTimm, WithSe(Wide(50, 32, 4))},
      NamedNetwork{"seresnext101_32x4d", kTimm, WithSe(Wide(101, 32, 4))},
      NamedNetwork{"seresnext101_32x8d", kTimm, WithSe(Wide(101, 32, 8))},
      NamedNetwork{"seresnext101_64x4d", kTimm, WithSe(Wide(101, 64, 4))},
      NamedNetwork{"resnet26t", kTimm, WithTStem(Plain(26))},
      NamedNetwork{"resnet50t", kTimm, WithTStem(Plain(50))},
      NamedNetwork{"seresnet50t", kTimm, WithSe(WithTStem(Plain(50)))},
      NamedNetwork{"seresnext26d_32x4d", kTimm,
                   WithSe(WithDStem(Wide(26, 32, 4)))},
      NamedNetwork{"seresnext26t_32x4d", kTimm,
                   WithSe(WithTStem(Wide(26, 32, 4)))},
      NamedNetwork{"ecaresnet26t", kTimm, WithEca(WithTStem(Plain(26)))},
      NamedNetwork{"ecaresnet50t", kTimm, WithEca(WithTStem(Plain(50)))},
      NamedNetwork{"ecaresnet50d", kTimm, WithEca(WithDStem(Plain(50)))},
      NamedNetwork{"ecaresnet101d", kTimm, WithEca(WithDStem(Plain(101)))},
      NamedNetwork{"ecaresnet200d", kTimm, WithEca(WithDStem(Plain(200)))},
      NamedNetwork{"ecaresnext26t_32x4d", kTimm,
                   WithEca(WithTStem(Wide(26, 32, 4)))},
      NamedNetwork{"ecaresnext50t_32x4d", kTimm,
                   WithEca(WithTStem(Wide(50, 32, 4)))},
      NamedNetwork{"resnetblur18", kTimm, WithBlur(Plain(18))},
      NamedNetwork{"resnetblur50", kTimm, WithBlur(Plain(50))},
      NamedNetwork{"resnetblur50d", kTimm, WithBlur(WithDStem(Plain(50)))},
      NamedNetwork{"resnetblur101d", kTimm, WithBlur(WithDStem(Plain(101)))},
      NamedNetwork{"resnetrs50", kTimm, Rs(50)},
      NamedNetwork{"resnetrs101", kTimm, Rs(101)},
      NamedNetwork{"resnetrs152", kTimm, Rs(152)},
      NamedNetwork{"resnetrs200", kTimm, Rs(200)},
      NamedNetwork{"resnetrs270", kTimm, Rs(270)},
      NamedNetwork{"resnetrs350", kTimm, Rs(350)},
      NamedNetwork{"resnetrs420", kTimm, Rs(420)},
  };
  return kNetworks;
}

std::string_view NetworkNames() {
  static const std::string kNames = [] {
    std::string names;
    for (const NamedNetwork& network : NamedNetworks()) {
      names.append(names.empty() ? "" : "|").append(network.name);
    }
    return names;
  }();
  return kNames;
}

const NamedNetwork* FindNetwork(std::string_view name) {
  const auto found =
      std::ranges::find(NamedNetworks(), name, &NamedNetwork::name);
  return found == NamedNetworks().end() ? nullptr : &*found;
}

const NamedNetwork* NetworkOf(const ModelOptions& options) {
  const auto found =
      std::ranges::find_if(NamedNetworks(), [&](const NamedNetwork& network) {
        return ShapeOf(network.shape) == ShapeOf(options);
      });
  return found == NamedNetworks().end() ? nullptr : &*found;
}

}  // namespace infeed
