#include "trainer/network/tensors.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using testing::ElementsAre;

std::map<std::string, OptimizedParameter> ResNet18(
    const OptimizerOptions& options) {
  std::map<std::string, OptimizedParameter> parameters;
  for (const OptimizedParameter& parameter :
       ParametersOf(*MakeNetwork({.depth = 18, .num_classes = 10}), options)) {
    parameters[parameter.name] = parameter;
  }
  return parameters;
}

// The exponents of timm 1.0.31's param_groups_layer_decay().
TEST(LayersFromEndTest, AreTimmsOfResNet18) {
  const auto parameters = ResNet18({.layer_decay = 0.5});
  const std::map<std::string, int> expected = {
      {"conv1.weight", 9},
      {"bn1.bias", 9},
      {"layer1.0.conv1.weight", 8},
      {"layer1.0.bn1.bias", 8},
      {"layer2.0.conv1.weight", 6},
      {"layer2.0.downsample.0.weight", 6},
      {"layer4.0.bn1.bias", 2},
      {"layer4.1.conv1.weight", 1},
      {"fc.weight", 0},
      {"fc.bias", 0}};
  for (const auto& [name, layers] : expected) {
    EXPECT_EQ(parameters.at(name).rate_factor, 1.0 / (1 << layers)) << name;
  }
}

TEST(LayersFromEndTest,
     CountsBlocksByNumberAndANormAfterThemWithTheClassifier) {
  EXPECT_THAT(
      LayersFromEnd({"conv1.0.weight", "layer3.9.conv1.weight",
                     "layer3.10.conv1.weight", "layer3.10.bn1.bias",
                     "layer4.0.conv1.weight", "bn.weight", "fc.weight"}),
      ElementsAre(4, 3, 2, 2, 1, 0, 0));
}

TEST(ParametersOfTest, HaveTheFactorsOfBodyAndHead) {
  const auto parameters = ResNet18(
      {.body_rate_factor = 0.1, .head_rate_factor = 3, .layer_decay = 0.5});
  EXPECT_EQ(parameters.at("fc.bias").rate_factor, 3);
  EXPECT_EQ(parameters.at("layer4.1.conv1.weight").rate_factor, 0.1 * 0.5);
}

TEST(ParametersOfTest, NormsHaveAWeightDecayOfTheirOwn) {
  const auto with = [](double norm_weight_decay, DecayScope scope) {
    return ResNet18({.weight_decay = 0.02,
                     .decay_scope = scope,
                     .norm_weight_decay = norm_weight_decay});
  };
  const auto own = with(0.005, DecayScope::kReference);
  EXPECT_EQ(own.at("bn1.weight").DecayOf(0.02), 0.005);
  EXPECT_EQ(own.at("conv1.weight").DecayOf(0.02), 0.02);
  const auto none = with(0, DecayScope::kAll);
  EXPECT_FALSE(none.at("bn1.weight").decayed);
  EXPECT_TRUE(none.at("fc.bias").decayed);
  EXPECT_FALSE(with(-1, DecayScope::kReference).at("bn1.weight").decayed);
  EXPECT_EQ(with(-1, DecayScope::kAll).at("bn1.weight").DecayOf(0.02), 0.02);
}

}  // namespace
}  // namespace infeed
