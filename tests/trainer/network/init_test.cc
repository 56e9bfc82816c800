#include "trainer/network/init.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include <torch/types.h>

#include "tests/support/golden_network.h"
#include "trainer/network/network.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// Uniform in +-limit: nothing beyond, something near, and the deviation of it.
void ExpectUniform(const torch::Tensor& weight, double limit,
                   const std::string& name) {
  const double largest = weight.abs().max().item<double>();
  EXPECT_LE(largest, limit * 1.000001) << name;
  EXPECT_GT(largest, limit * 0.9) << name;
  EXPECT_NEAR(weight.std().item<double>(), limit / std::sqrt(3.0), limit * 0.2)
      << name;
}

TEST(NetworkInitTest, XlaJlStartsAsFluxDoes) {
  for (const auto& [name, tensor] :
       StateOf(*MakeNetwork({.variant = ModelVariant::kXlaJl}))) {
    if (tensor.dim() > 1) {
      double sum = 0;
      for (const std::int64_t dimension : tensor.sizes()) {
        sum += static_cast<double>(dimension);
      }
      ExpectUniform(tensor, std::sqrt(6 / sum), name);
    } else if (name.ends_with("bias")) {
      EXPECT_EQ(tensor.abs().max().item<float>(), 0) << name;
    } else if (name.ends_with("weight")) {
      EXPECT_EQ(tensor.min().item<float>(), 1) << name;
    }
  }
}

TEST(NetworkInitTest, LeNetStartsWithGlorotsUniform) {
  const auto state =
      StateOf(*MakeNetwork({.kind = ModelKind::kLeNet, .num_classes = 10}));
  const auto limit = [](int fans) { return std::sqrt(6.0 / fans); };
  ExpectUniform(state.at("conv1.weight"), limit(25 * 1 + 25 * 6), "conv1");
  ExpectUniform(state.at("conv2.weight"), limit(25 * 6 + 25 * 16), "conv2");
  ExpectUniform(state.at("fc1.weight"), limit(400 + 120), "fc1");
  ExpectUniform(state.at("fc2.weight"), limit(120 + 84), "fc2");
  ExpectUniform(state.at("fc3.weight"), limit(84 + 10), "fc3");
  for (const char* name : {"conv1.bias", "conv2.bias", "fc1.bias"}) {
    EXPECT_EQ(state.at(name).abs().max().item<float>(), 0) << name;
  }
}

TEST(NetworkInitTest, SqueezeAndExcitationStartsAsTheConvolutionsDo) {
  const auto state =
      StateOf(*MakeNetwork({.num_classes = 2, .se_ratio = 0.25}));
  EXPECT_NEAR(state.at("layer4.0.se.fc1.weight").std().item<double>(),
              std::sqrt(1.0 / 2048), 2e-4);
  EXPECT_EQ(state.at("layer4.0.se.fc1.bias").abs().max().item<float>(), 0);
}

TEST(NetworkInitTest, ScalesStartAtOneWithoutZeroGamma) {
  for (const auto& [name, tensor] : StateOf(*MakeNetwork(
           {.depth = 18, .num_classes = 2, .zero_gamma = false}))) {
    if (name.ends_with("bn2.weight")) {
      EXPECT_EQ(tensor.min().item<float>(), 1) << name;
    }
  }
}

}  // namespace
}  // namespace infeed
