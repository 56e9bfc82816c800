#include "trainer/network/network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <torch/types.h>

#include "base/error.h"
#include "tests/support/golden_network.h"
#include "tests/support/throws.h"
#include "trainer/model/layers.h"
#include "trainer/model/named_networks.h"
#include "trainer/network/resnet.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

struct Variant {
  std::string name;  // in model_goldens.json
  ModelOptions options;
};

std::vector<Variant> Variants() {
  constexpr ModelVariant kTpu = ModelVariant::kTpu;
  std::vector<Variant> variants = {
      {"tpu_18", {.variant = kTpu, .depth = 18}},
      {"tpu_18_odd", {.variant = kTpu, .depth = 18}},
      {"xla_jl", {.variant = ModelVariant::kXlaJl}},
      {"pre_18", {.depth = 18, .pre_activation = true}},
      {"pre_tpu_50",
       {.variant = kTpu,
        .pre_activation = true,
        .resnetd_stem = true,
        .resnetd_shortcut = true,
        .replace_stem_max_pool = true}},
      {"rs_50",
       {.variant = kTpu,
        .resnetd_stem = true,
        .resnetd_shortcut = true,
        .replace_stem_max_pool = true,
        .se_ratio = 0.25}},
      {"small_18", {.depth = 18, .small_stem = true}},
      {"lenet", {.kind = ModelKind::kLeNet}},
  };
  for (Variant& variant : variants) {
    variant.options.num_classes = kGoldenClasses;
  }
  return variants;
}

class NetworkVariantTest : public testing::TestWithParam<Variant> {};

// Images of values n / 2^16 in [-0.5, 0.5), times 4.
torch::Tensor GoldenImages(std::int64_t side) {
  const std::int64_t channels = 3;
  std::vector<float> noise = GoldenNoise(
      "images", static_cast<std::size_t>(2 * channels * side * side));
  return torch::from_blob(noise.data(), {2, channels, side, side}).mul(4);
}

// With the golden weights, on the golden images.
void ExpectLogits(const ModelOptions& options, std::int64_t side,
                  const std::vector<double>& expected) {
  const torch::NoGradGuard no_grad;
  at::set_num_threads(2);
  const std::shared_ptr<Network> network = MakeNetwork(options);
  SetGoldenWeights(*network);
  network->eval();
  const torch::Tensor logits =
      network->Forward(GoldenImages(side)).contiguous();
  ASSERT_EQ(static_cast<std::size_t>(logits.numel()), expected.size());
  const double largest = logits.abs().max().item<double>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(logits.data_ptr<float>()[i], expected[i],
                1e-4 * std::max(1.0, largest));
  }
}

const nlohmann::json& NamedGoldens() {
  static const nlohmann::json kGoldens = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/named_networks.json"));
  return kGoldens;
}

TEST_P(NetworkVariantTest, GivesTheLogitsOfItsTwinInPyTorch) {
  const nlohmann::json golden = nlohmann::json::parse(std::ifstream(
      INFEED_TEST_DATA "/model_goldens.json"))["logits"]
                                    .at(GetParam().name);
  ExpectLogits(GetParam().options, golden["side"], golden["values"]);
}

TEST_P(NetworkVariantTest, HasTheTensorsOfItsPlan) {
  const std::shared_ptr<Network> network = MakeNetwork(GetParam().options);
  std::map<std::string, torch::Tensor> state = StateOf(*network);
  for (const LayerPlan& layer : PlanLayers(GetParam().options)) {
    for (const TensorPlan& tensor : TensorsOf(layer)) {
      ASSERT_TRUE(state.contains(tensor.name)) << tensor.name;
      EXPECT_EQ(state[tensor.name].sizes(), at::IntArrayRef(tensor.shape))
          << tensor.name;
      state.erase(tensor.name);
    }
  }
  EXPECT_TRUE(state.empty()) << state.begin()->first;
}

INSTANTIATE_TEST_SUITE_P(Variants, NetworkVariantTest,
                         testing::ValuesIn(Variants()),
                         [](const auto& param_info) {
                           return param_info.param.name;
                         });

// The published networks with logits in named_networks.json.
std::vector<std::string> NetworksWithLogits() {
  std::vector<std::string> names;
  for (const auto& [name, golden] : NamedGoldens().items()) {
    if (golden.contains("logits")) {
      names.push_back(name);
    }
  }
  return names;
}

class NamedNetworkTest : public testing::TestWithParam<std::string> {};

TEST_P(NamedNetworkTest, GivesTheLogitsOfItsLibrary) {
  ModelOptions options = FindNetwork(GetParam())->shape;
  options.num_classes = kGoldenClasses;
  ExpectLogits(options, 64, NamedGoldens()[GetParam()]["logits"]);
}

INSTANTIATE_TEST_SUITE_P(All, NamedNetworkTest,
                         testing::ValuesIn(NetworksWithLogits()),
                         [](const auto& param_info) {
                           return param_info.param;
                         });

torch::Tensor SomeImages(std::int64_t side = 32) { return GoldenImages(side); }

// The names of the parameters that get a gradient.
std::set<std::string> Trained(Network& network) {
  network.Forward(SomeImages()).square().sum().backward();
  std::set<std::string> trained;
  for (const auto& entry : network.named_parameters()) {
    if (entry.value().grad().defined()) {
      trained.insert(entry.key());
    }
  }
  return trained;
}

bool IsOfTheFirstStages(const std::string& name) {
  return name.starts_with("conv1") || name.starts_with("bn1") ||
         name.starts_with("layer1.");
}

// The moving statistics that a pass in training changes.
std::set<std::string> Moved(Network& network) {
  std::map<std::string, torch::Tensor> before;
  for (const auto& entry : network.named_buffers()) {
    before[entry.key()] = entry.value().clone();
  }
  network.train();
  static_cast<void>(network.Forward(SomeImages()));
  std::set<std::string> moved;
  for (const auto& entry : network.named_buffers()) {
    if (!entry.value().equal(before[entry.key()])) {
      moved.insert(entry.key());
    }
  }
  return moved;
}

TEST(NetworkTest, FrozenStagesGetNoGradientsAndKeepTheirStatistics) {
  const std::shared_ptr<Network> network =
      MakeNetwork({.depth = 18, .num_classes = 4, .frozen_stages = 2});
  const std::set<std::string> trained = Trained(*network);
  for (const auto& entry : network->named_parameters()) {
    EXPECT_NE(trained.contains(entry.key()), IsOfTheFirstStages(entry.key()))
        << entry.key();
    EXPECT_EQ(entry.value().requires_grad(), trained.contains(entry.key()));
  }
  const std::set<std::string> moved = Moved(*network);
  for (const auto& entry : network->named_buffers()) {
    EXPECT_NE(moved.contains(entry.key()), IsOfTheFirstStages(entry.key()))
        << entry.key();
  }
}

TEST(NetworkTest, FrozenBatchNormsKeepTheirStatisticsAndLearn) {
  const std::shared_ptr<Network> network =
      MakeNetwork({.depth = 18, .num_classes = 4, .freeze_batch_norm = true});
  EXPECT_EQ(Moved(*network), std::set<std::string>());
  EXPECT_TRUE(Trained(*network).contains("layer1.0.bn2.weight"));
}

TEST(NetworkTest, MovingStatisticsFollowTheBatchWithBesselsCorrection) {
  BatchNorm norm = MakeNorm(1, {.bn_momentum = 0.75});
  // Mean 2, variance 1.25, with Bessel's correction 5/3.
  const torch::Tensor x =
      torch::tensor({0.5F, 1.5F, 2.5F, 3.5F}).reshape({1, 1, 2, 2});
  const torch::Tensor y = norm->forward(x);
  EXPECT_NEAR(norm->running_mean.item<double>(), 0.25 * 2, 1e-6);
  EXPECT_NEAR(norm->running_var.item<double>(), 0.75 + 0.25 * 5 / 3, 1e-6);
  EXPECT_NEAR(y.flatten()[0].item<double>(), -1.5 / std::sqrt(1.25 + 1e-5),
              1e-6);
}

// One of everything that is random.
ModelOptions Dropping() {
  return {
      .num_classes = 4,
      .seed = 3,
      .drop_connect_rate = 0.5,
      .dropout_rate = 0.5,
      .drop_block = {.groups = {3, 4}, .keep_prob = 0.5, .train_steps = 100}};
}

torch::Tensor LogitsOfStep(Network& network, std::int64_t step) {
  network.SetStep(step);
  return network.Forward(SomeImages()).detach();
}

TEST(NetworkTest, WhatIsDroppedIsAFunctionOfTheStep) {
  const std::shared_ptr<Network> network = MakeNetwork(Dropping());
  const torch::Tensor first = LogitsOfStep(*network, 50);
  EXPECT_FALSE(LogitsOfStep(*network, 51).equal(first));
  EXPECT_TRUE(LogitsOfStep(*network, 50).equal(first));
  EXPECT_TRUE(LogitsOfStep(*MakeNetwork(Dropping()), 50).equal(first));
  network->eval();  // It drops nothing.
  EXPECT_TRUE(LogitsOfStep(*network, 50).equal(LogitsOfStep(*network, 51)));
}

TEST(NetworkTest, EachWayToDropChangesTheLogits) {
  const ModelOptions plain = {.num_classes = 4, .zero_gamma = false};
  std::vector<ModelOptions> dropping(3, plain);
  dropping[0].drop_connect_rate = 0.5;
  dropping[1].dropout_rate = 0.5;
  dropping[2].drop_block = {
      .groups = {4}, .keep_prob = 0.5, .train_steps = 100};
  const std::shared_ptr<Network> network = MakeNetwork(plain);
  const torch::Tensor logits = LogitsOfStep(*network, 50);
  for (const ModelOptions& options : dropping) {
    EXPECT_FALSE(LogitsOfStep(*MakeNetwork(options), 50).equal(logits));
  }
  // DropBlock keeps everything at the first step.
  EXPECT_TRUE(LogitsOfStep(*MakeNetwork(dropping[2]), 0)
                  .equal(LogitsOfStep(*MakeNetwork(plain), 0)));
}

// As on a GPU, the weights keep their shape.
TEST(NetworkTest, AFourthChannelOfZerosChangesNothing) {
  // Logits, and the gradients of all parameters.
  const auto pass = [](const ModelOptions& options, bool padded) {
    const std::shared_ptr<Network> network = MakeNetwork(options);
    network->to(torch::kDouble);
    const torch::Tensor images = GoldenImages(28).to(torch::kDouble);
    const torch::Tensor logits = network->Forward(
        padded ? torch::constant_pad_nd(images, {0, 0, 0, 0, 0, 1}) : images);
    logits.square().sum().backward();
    std::vector<torch::Tensor> tensors = {logits};
    for (const torch::Tensor& parameter : network->parameters()) {
      tensors.push_back(parameter.grad());
    }
    return tensors;
  };
  for (const ModelOptions& options :
       {ModelOptions{.depth = 18, .num_classes = 3},
        ModelOptions{.depth = 18, .num_classes = 3, .small_stem = true},
        ModelOptions{.depth = 18, .num_classes = 3, .resnetd_stem = true},
        ModelOptions{.kind = ModelKind::kLeNet, .num_classes = 3}}) {
    const std::vector<torch::Tensor> plain = pass(options, false);
    const std::vector<torch::Tensor> padded = pass(options, true);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_TRUE(torch::allclose(padded[i], plain[i], 1e-9, 1e-9)) << i;
    }
  }
}

// And takes gray images that are not square.
TEST(NetworkTest, OneChannelIsTheLuminanceOfThree) {
  const std::shared_ptr<Network> network =
      MakeNetwork({.depth = 18, .num_classes = 3, .channels = 1});
  EXPECT_EQ(network->Forward(torch::rand({2, 1, 64, 40})).sizes(),
            at::IntArrayRef({2, 3}));
  network->to(torch::kDouble);
  network->eval();
  EXPECT_EQ(network->named_parameters()["conv1.weight"].size(1), 1);
  const torch::Tensor images = SomeImages().to(torch::kDouble);
  const torch::Tensor gray = 0.299 * images.narrow(1, 0, 1) +
                             0.587 * images.narrow(1, 1, 1) +
                             0.114 * images.narrow(1, 2, 1);
  const torch::Tensor logits = network->Forward(gray);
  EXPECT_TRUE(torch::allclose(network->Forward(images), logits, 1e-9, 1e-9));
  const torch::Tensor padded =
      torch::constant_pad_nd(images, {0, 0, 0, 0, 0, 1});
  EXPECT_TRUE(torch::allclose(network->Forward(padded), logits, 1e-9, 1e-9));
}

TEST(NetworkTest, OtherChannelsTakeTheColorsInTurn) {
  const torch::Tensor images = SomeImages().to(torch::kDouble);
  const torch::Tensor padded =
      torch::constant_pad_nd(images, {0, 0, 0, 0, 0, 1});
  for (const int channels : {2, 4, 7}) {
    const std::shared_ptr<Network> network =
        MakeNetwork({.depth = 18, .num_classes = 3, .channels = channels});
    const std::shared_ptr<Network> of_colors =
        MakeNetwork({.depth = 18, .num_classes = 3});
    for (const auto& each : {network, of_colors}) {
      each->to(torch::kDouble);
      each->eval();
    }
    const torch::NoGradGuard no_grad;
    auto wanted = of_colors->named_parameters();
    for (const auto& parameter : network->named_parameters()) {
      if (parameter.key() != "conv1.weight") {
        wanted[parameter.key()].copy_(parameter.value());
      }
    }
    const torch::Tensor weight = network->named_parameters()["conv1.weight"];
    ASSERT_EQ(weight.size(1), channels);
    wanted["conv1.weight"].zero_();
    for (int channel = 0; channel < channels; ++channel) {
      wanted["conv1.weight"].select(1, channel % 3) +=
          weight.select(1, channel);
    }
    const torch::Tensor logits = of_colors->Forward(images);
    EXPECT_TRUE(torch::allclose(network->Forward(images), logits, 1e-9, 1e-9));
    EXPECT_TRUE(torch::allclose(network->Forward(padded), logits, 1e-9, 1e-9));
  }
}

TEST(NetworkTest, EveryInputChannelLearns) {
  const std::shared_ptr<Network> network =
      MakeNetwork({.depth = 18, .num_classes = 3, .channels = 4});
  network->Forward(SomeImages()).square().sum().backward();
  const torch::Tensor gradient =
      network->named_parameters()["conv1.weight"].grad();
  for (int channel = 0; channel < 4; ++channel) {
    EXPECT_GT(gradient.select(1, channel).abs().sum().item<float>(), 0);
  }
  EXPECT_TRUE(gradient.select(1, 3).equal(gradient.select(1, 0)));
}

TEST(NetworkTest, LeNetTakesImagesOf28PixelsAndHasNoStagesToFreeze) {
  ModelOptions options = {.kind = ModelKind::kLeNet, .num_classes = 10};
  const std::shared_ptr<Network> network = MakeNetwork(options);
  EXPECT_EQ(
      MessageOf<UsageError>([&] { (void)network->Forward(SomeImages()); }),
      "model=lenet takes images of 28 pixels, not of 32: give image_size=28");
  options.frozen_stages = 1;
  EXPECT_THROW(MakeNetwork(options), UsageError);
}

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

}  // namespace

}  // namespace infeed
