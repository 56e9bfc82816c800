#include "trainer/model/named_networks.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/choices.h"

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
      NamedNetwork{"resnet18", kOfTorchvision, Plain(18)},
      NamedNetwork{"resnet34", kOfTorchvision, Plain(34)},
      NamedNetwork{"resnet50", kOfTorchvision, Plain(50)},
      NamedNetwork{"resnet101", kOfTorchvision, Plain(101)},
      NamedNetwork{"resnet152", kOfTorchvision, Plain(152)},
      NamedNetwork{"resnext50_32x4d", kOfTorchvision, Wide(50, 32, 4)},
      NamedNetwork{"resnext101_32x8d", kOfTorchvision, Wide(101, 32, 8)},
      NamedNetwork{"resnext101_64x4d", kOfTorchvision, Wide(101, 64, 4)},
      NamedNetwork{"wide_resnet50_2", kOfTorchvision, Wide(50, 1, 128)},
      NamedNetwork{"wide_resnet101_2", kOfTorchvision, Wide(101, 1, 128)},
      NamedNetwork{"resnet26", kOfTimm, Plain(26)},
      NamedNetwork{"resnet200", kOfTimm, Plain(200)},
      NamedNetwork{"resnet26d", kOfTimm, WithDStem(Plain(26))},
      NamedNetwork{"resnet50d", kOfTimm, WithDStem(Plain(50))},
      NamedNetwork{"resnet101d", kOfTimm, WithDStem(Plain(101))},
      NamedNetwork{"resnet152d", kOfTimm, WithDStem(Plain(152))},
      NamedNetwork{"resnet200d", kOfTimm, WithDStem(Plain(200))},
      NamedNetwork{"resnext101_32x4d", kOfTimm, Wide(101, 32, 4)},
      NamedNetwork{"resnext50d_32x4d", kOfTimm, WithDStem(Wide(50, 32, 4))},
      NamedNetwork{"seresnet50", kOfTimm, WithSe(Plain(50))},
      NamedNetwork{"seresnet101", kOfTimm, WithSe(Plain(101))},
      NamedNetwork{"seresnet152", kOfTimm, WithSe(Plain(152))},
      NamedNetwork{"seresnet152d", kOfTimm, WithSe(WithDStem(Plain(152)))},
      NamedNetwork{"seresnet200d", kOfTimm, WithSe(WithDStem(Plain(200)))},
      NamedNetwork{"seresnext50_32x4d", kOfTimm, WithSe(Wide(50, 32, 4))},
      NamedNetwork{"seresnext101_32x4d", kOfTimm, WithSe(Wide(101, 32, 4))},
      NamedNetwork{"seresnext101_32x8d", kOfTimm, WithSe(Wide(101, 32, 8))},
      NamedNetwork{"seresnext101_64x4d", kOfTimm, WithSe(Wide(101, 64, 4))},
      NamedNetwork{"resnet26t", kOfTimm, WithTStem(Plain(26))},
      NamedNetwork{"resnet50t", kOfTimm, WithTStem(Plain(50))},
      NamedNetwork{"seresnet50t", kOfTimm, WithSe(WithTStem(Plain(50)))},
      NamedNetwork{"seresnext26d_32x4d", kOfTimm,
                   WithSe(WithDStem(Wide(26, 32, 4)))},
      NamedNetwork{"seresnext26t_32x4d", kOfTimm,
                   WithSe(WithTStem(Wide(26, 32, 4)))},
      NamedNetwork{"ecaresnet26t", kOfTimm, WithEca(WithTStem(Plain(26)))},
      NamedNetwork{"ecaresnet50t", kOfTimm, WithEca(WithTStem(Plain(50)))},
      NamedNetwork{"ecaresnet50d", kOfTimm, WithEca(WithDStem(Plain(50)))},
      NamedNetwork{"ecaresnet101d", kOfTimm, WithEca(WithDStem(Plain(101)))},
      NamedNetwork{"ecaresnet200d", kOfTimm, WithEca(WithDStem(Plain(200)))},
      NamedNetwork{"ecaresnext26t_32x4d", kOfTimm,
                   WithEca(WithTStem(Wide(26, 32, 4)))},
      NamedNetwork{"ecaresnext50t_32x4d", kOfTimm,
                   WithEca(WithTStem(Wide(50, 32, 4)))},
      NamedNetwork{"resnetblur18", kOfTimm, WithBlur(Plain(18))},
      NamedNetwork{"resnetblur50", kOfTimm, WithBlur(Plain(50))},
      NamedNetwork{"resnetblur50d", kOfTimm, WithBlur(WithDStem(Plain(50)))},
      NamedNetwork{"resnetblur101d", kOfTimm, WithBlur(WithDStem(Plain(101)))},
      NamedNetwork{"resnetrs50", kOfTimm, Rs(50)},
      NamedNetwork{"resnetrs101", kOfTimm, Rs(101)},
      NamedNetwork{"resnetrs152", kOfTimm, Rs(152)},
      NamedNetwork{"resnetrs200", kOfTimm, Rs(200)},
      NamedNetwork{"resnetrs270", kOfTimm, Rs(270)},
      NamedNetwork{"resnetrs350", kOfTimm, Rs(350)},
      NamedNetwork{"resnetrs420", kOfTimm, Rs(420)},
  };
  return kNetworks;
}

std::string_view NetworkNames() {
  static const std::string names =
      JoinNames(NamedNetworks(), &NamedNetwork::name);
  return names;
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
