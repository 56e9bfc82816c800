#include "trainer/network/tensors.h"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

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
TEST(LayersFromEndTest, ResNet18MatchesTimm) {
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

// keyu-tian/SparK, downstream_imagenet/models: 3 blocks at most for ResNet-50
// and -101, 4 for -152 and -200.
TEST(LayersFromEndTest, BlocksMatchSpark) {
  const auto layers = [](const std::vector<int>& groups, int most_blocks) {
    std::vector<std::string> names = {"conv1.weight"};
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (int block = 0; block < groups[i]; ++block) {
        names.push_back(fmt::format("layer{}.{}.bn1.bias", i + 1, block));
      }
    }
    names.emplace_back("fc.bias");
    return LayersFromEnd(names, most_blocks);
  };
  EXPECT_THAT(layers({3, 4, 6, 3}, 3), ElementsAre(7, 6, 6, 6, 5, 5, 4, 4, 3, 3,
                                                   3, 2, 2, 2, 1, 1, 1, 0));
  EXPECT_THAT(
      layers({3, 4, 23, 3}, 3),
      ElementsAre(13, 12, 12, 12, 11, 11, 10, 10, 9, 9, 9, 8, 8, 8, 7, 7, 7, 6,
                  6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 1, 1, 1, 0));
  const std::vector<int> of_152 = layers({3, 8, 36, 3}, 4);
  EXPECT_EQ(of_152.front(), 14);
  EXPECT_EQ(of_152[1 + 3 + 7], 11);      // layer2.7
  EXPECT_EQ(of_152[1 + 3 + 8], 10);      // layer3.0
  EXPECT_EQ(of_152[1 + 3 + 8 + 4], 9);   // layer3.4
  EXPECT_EQ(of_152[1 + 3 + 8 + 35], 2);  // layer3.35
  EXPECT_EQ(layers({3, 24, 36, 3}, 4).front(), 18);
}

TEST(ParametersOfTest, ShareARateInSeveralBlocks) {
  const auto parameters =
      ResNet18({.layer_decay = 0.5, .layer_decay_blocks = 2});
  EXPECT_EQ(parameters.at("conv1.weight").rate_factor, 1.0 / 32);
  EXPECT_EQ(parameters.at("layer4.0.conv1.weight").rate_factor, 0.5);
  EXPECT_EQ(parameters.at("layer4.1.conv1.weight").rate_factor, 0.5);
}

TEST(ParametersOfTest, AllButTheClassifierHaveTheFactorOfTheBody) {
  const auto parameters =
      ResNet18({.body_rate_factor = 0.1, .layer_decay = 0.5});
  EXPECT_EQ(parameters.at("fc.bias").rate_factor, 1);
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
