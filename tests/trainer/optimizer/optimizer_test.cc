#include "trainer/optimizer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "tests/support/matchers.h"
#include "tests/support/torchvision_golden.h"
#include "trainer/optimizer/pass.h"

namespace infeed::optimizer_test {

const nlohmann::json& Golden() {
  static const nlohmann::json kGolden = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/optimizer_goldens.json"));
  return kGolden;
}

torch::Tensor Noise(const std::string& name, at::IntArrayRef shape) {
  const std::vector<float> values =
      GoldenNoise(name, static_cast<std::size_t>(torch::empty(shape).numel()));
  return torch::tensor(values).reshape(shape);
}

// The goldens' parameters. The first is longer than a stretch, and in
// channels_last order.
std::vector<OptimizedParameter> TwoParameters() {
  return {{.name = "conv1.weight",
           .weight = Noise("conv1.weight", {64, 32, 3, 3})
                         .contiguous(at::MemoryFormat::ChannelsLast)
                         .requires_grad_(),
           .decayed = true},
          {.name = "bn1.weight",
           .weight = Noise("bn1.weight", {37}).requires_grad_(),
           .decayed = false}};
}

// Row-major, so that the first must be brought into the weight's order.
void SetGradients(const std::vector<OptimizedParameter>& parameters, int step) {
  for (const OptimizedParameter& parameter : parameters) {
    parameter.weight.mutable_grad() =
        Noise(parameter.name + std::to_string(step), parameter.weight.sizes()) /
        8;
  }
}

// Runs steps [first, last) of the goldens and returns the last L2 term.
torch::Tensor Steps(Optimizer& optimizer,
                    const std::vector<OptimizedParameter>& parameters,
                    int first, int last) {
  torch::Tensor l2;
  for (int step = first; step < last; ++step) {
    SetGradients(parameters, step);
    const std::vector<float> rates = {0.1F, 0.05F, 0.2F, 0.1F};
    l2 = optimizer.Step(torch::tensor(rates[static_cast<std::size_t>(step)]));
  }
  return l2;
}

// Row-major elements, as many of the first parameter as goldens have.
std::vector<double> Thinned(const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.detach().contiguous();
  const auto* data = dense.data_ptr<float>();
  std::vector<double> values;
  for (std::int64_t i = 0; i<dense.numel(); i += dense.dim()> 1 ? 401 : 1) {
    values.push_back(data[i]);
  }
  return values;
}

void ExpectNear(const torch::Tensor& tensor, const nlohmann::json& golden) {
  const std::vector<double> values = Thinned(tensor);
  ASSERT_EQ(values.size(), golden.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], golden[i].get<double>(), 1e-6) << i;
    largest = std::max(largest, std::abs(values[i] - golden[i].get<double>()));
  }
  testing::Test::RecordProperty("largest_difference",
                                std::to_string(1e9 * largest));
}

struct Case {
  std::string golden;
  OptimizerOptions options;
  bool has_l2 = true;
  Kernels kernels = Kernels::kFastest;
};

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {"nesterov", {.weight_decay = 0.01}},
      {"momentum", {.nesterov = false, .weight_decay = 0.01}},
      {"sgd", {.momentum = 0, .nesterov = false, .weight_decay = 0.01}},
      {"adam", {.kind = OptimizerKind::kAdam, .weight_decay = 0.01}},
      {"adamw", {.kind = OptimizerKind::kAdamW, .weight_decay = 0.01}, false},
      {"nadamw", {.kind = OptimizerKind::kNAdamW, .weight_decay = 0.01}, false},
      {"lamb", {.kind = OptimizerKind::kLamb, .weight_decay = 0.01}, false},
      {"rmsprop", {.kind = OptimizerKind::kRmsProp, .weight_decay = 0.01}},
      {"lars", {.kind = OptimizerKind::kLars, .weight_decay = 0.01}, false}};
  const std::size_t count = cases.size();
  for (std::size_t i = 0; i < count; ++i) {
    Case with_library = cases[i];
    with_library.kernels = Kernels::kLibrary;
    cases.push_back(with_library);
  }
  return cases;
}

class OptimizerTest : public testing::TestWithParam<Case> {
 protected:
  std::vector<OptimizedParameter> parameters_ = TwoParameters();
  std::unique_ptr<Optimizer> optimizer_ =
      MakeOptimizer(GetParam().options, parameters_, GetParam().kernels);
};

TEST_P(OptimizerTest, UpdatesAsTheGoldensDo) {
  Steps(*optimizer_, parameters_, 0, 4);
  const nlohmann::json& golden = Golden()[GetParam().golden];
  ExpectNear(parameters_[0].weight, golden["conv1.weight"]);
  ExpectNear(parameters_[1].weight, golden["bn1.weight"]);
}

TEST_P(OptimizerTest, ReturnsTheL2TermOfTheWeightsBeforeAndDropsTheGradients) {
  const double squares =
      parameters_[0].weight.to(torch::kDouble).square().sum().item<double>();
  const double expected = GetParam().has_l2 ? 0.005 * squares : 0;
  EXPECT_NEAR(Steps(*optimizer_, parameters_, 0, 1).item<float>(), expected,
              1e-5 * expected);
  EXPECT_FALSE(parameters_[0].weight.grad().defined());
  EXPECT_FALSE(parameters_[1].weight.grad().defined());
}

TEST_P(OptimizerTest, GoesOnFromItsStateAsIfNeverStopped) {
  Steps(*optimizer_, parameters_, 0, 2);
  const std::vector<OptimizedParameter> copies = TwoParameters();
  const std::unique_ptr<Optimizer> other =
      MakeOptimizer(GetParam().options, copies, GetParam().kernels);
  FromHost(other->State(), ToHost(optimizer_->State()));
  FromHost(
      {{"0", copies[0].weight}, {"1", copies[1].weight}},
      ToHost({{"0", parameters_[0].weight}, {"1", parameters_[1].weight}}));
  Steps(*optimizer_, parameters_, 2, 4);
  Steps(*other, copies, 2, 4);
  EXPECT_TRUE(copies[0].weight.equal(parameters_[0].weight));
  EXPECT_TRUE(copies[1].weight.equal(parameters_[1].weight));
  EXPECT_TRUE(ToHost(other->State()) == ToHost(optimizer_->State()));
}

// One whose factor is a quarter learns as at a quarter of the rate, and the
// others as ever.
TEST_P(OptimizerTest, LearnsAtAShareOfTheRate) {
  const auto weights = [&](double factor, float rate) {
    std::vector<OptimizedParameter> parameters = TwoParameters();
    parameters[0].rate_factor = factor;
    const std::unique_ptr<Optimizer> optimizer =
        MakeOptimizer(GetParam().options, parameters, GetParam().kernels);
    for (int step = 0; step < 3; ++step) {
      SetGradients(parameters, step);
      (void)optimizer->Step(torch::tensor(rate));
    }
    return parameters;
  };
  const auto with_factor = weights(0.25, 0.2F);
  EXPECT_TRUE(
      with_factor[0].weight.allclose(weights(1, 0.05F)[0].weight, 1e-6, 1e-6));
  EXPECT_TRUE(with_factor[1].weight.equal(weights(1, 0.2F)[1].weight));
}

// One whose factor is a quarter decays as with a quarter of the weight decay,
// and counts as such in the L2 term.
TEST_P(OptimizerTest, DecaysByAShareOfTheWeightDecay) {
  const auto train = [&](double factor, double weight_decay) {
    std::vector<OptimizedParameter> parameters = TwoParameters();
    parameters[0].decay_factor = factor;
    OptimizerOptions options = GetParam().options;
    options.weight_decay = weight_decay;
    const std::unique_ptr<Optimizer> optimizer =
        MakeOptimizer(options, parameters, GetParam().kernels);
    const torch::Tensor l2 = Steps(*optimizer, parameters, 0, 3);
    return std::pair(parameters[0].weight, l2);
  };
  const auto [weight, l2] = train(0.25, 0.04);
  const auto [expected, expected_l2] = train(1, 0.01);
  EXPECT_TRUE(weight.allclose(expected, 1e-6, 1e-6));
  EXPECT_TRUE(l2.allclose(expected_l2, 1e-6, 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Kinds, OptimizerTest, testing::ValuesIn(Cases()),
                         [](const auto& param_info) {
                           const Case& param = param_info.param;
                           return param.golden +
                                  (param.kernels == Kernels::kLibrary
                                       ? "WithLibrary"
                                       : "");
                         });

TEST(OptimizerThreadsTest, DoNotChangeABit) {
  for (const auto& [name, kind] : kOptimizers) {
    std::vector<torch::Tensor> weights;
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      const std::vector<OptimizedParameter> parameters = TwoParameters();
      const std::unique_ptr<Optimizer> optimizer =
          MakeOptimizer({.kind = kind}, parameters);
      weights.push_back(Steps(*optimizer, parameters, 0, 2));
      weights.push_back(parameters[0].weight);
    }
    EXPECT_TRUE(weights[0].equal(weights[2])) << name;
    EXPECT_TRUE(weights[1].equal(weights[3])) << name;
  }
}

TEST(OptimizerStateTest, HasTheNamesOfCheckpoints) {
  const std::vector<std::string> averages = {"conv1.weight", "bn1.weight"};
  const std::vector<std::string> moments = {"conv1.weight/m", "bn1.weight/m",
                                            "conv1.weight/v", "bn1.weight/v"};
  const auto with = [](std::vector<std::string> names,
                       const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
    return names;
  };
  for (const auto& [kind, expected] :
       {std::pair(OptimizerKind::kMomentum, averages),
        {OptimizerKind::kLars, averages},
        {OptimizerKind::kAdam, with(moments, {"step"})},
        {OptimizerKind::kNAdamW, with(moments, {"step", "mu"})},
        {OptimizerKind::kLamb, with(moments, {"step"})},
        {OptimizerKind::kRmsProp, moments}}) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] :
         MakeOptimizer({.kind = kind}, TwoParameters())->State()) {
      names.push_back(name);
    }
    EXPECT_EQ(names, expected);
  }
}

// LARS and LAMB leave biases alone, unless all is asked for.
TEST(DecayScopeTest, SaysWhatDecays) {
  const auto weight_bias_norm = [](OptimizerKind kind, DecayScope scope) {
    const OptimizerOptions options = {.kind = kind, .decay_scope = scope};
    return std::vector<bool>{IsDecayed(ParameterKind::kWeight, options),
                             IsDecayed(ParameterKind::kBias, options),
                             IsDecayed(ParameterKind::kNorm, options)};
  };
  EXPECT_THAT(
      weight_bias_norm(OptimizerKind::kMomentum, DecayScope::kReference),
      ElementsAre(true, true, false));
  EXPECT_THAT(weight_bias_norm(OptimizerKind::kMomentum, DecayScope::kWeights),
              ElementsAre(true, false, false));
  for (const OptimizerKind kind :
       {OptimizerKind::kMomentum, OptimizerKind::kLars, OptimizerKind::kLamb}) {
    EXPECT_THAT(weight_bias_norm(kind, DecayScope::kAll),
                ElementsAre(true, true, true));
    if (kind != OptimizerKind::kMomentum) {
      EXPECT_THAT(weight_bias_norm(kind, DecayScope::kReference),
                  ElementsAre(true, false, false));
    }
  }
}

TEST(LayerwiseOptimizerTest, TakesTheWholeRateForAWeightOfZeros) {
  for (const OptimizerKind kind :
       {OptimizerKind::kLamb, OptimizerKind::kLars}) {
    for (const Kernels kernels : {Kernels::kFastest, Kernels::kLibrary}) {
      const OptimizedParameter zeros = {
          .name = "zeros", .weight = torch::zeros({4}).requires_grad_()};
      zeros.weight.mutable_grad() = torch::ones({4});
      MakeOptimizer({.kind = kind}, {zeros}, kernels)
          ->Step(torch::tensor(0.5F));
      EXPECT_TRUE(zeros.weight.allclose(torch::full({4}, -0.5F)));
    }
  }
}

TEST(GradientsTest, ClippingMatchesPyTorchs) {
  for (const std::string longest : {"1", "100"}) {
    const std::vector<OptimizedParameter> parameters = TwoParameters();
    SetGradients(parameters, 0);
    ClipGradients(parameters, std::stod(longest));
    const nlohmann::json& golden = Golden()["clipped"][longest];
    ExpectNear(parameters[0].weight.grad(), golden["conv1.weight"]);
    ExpectNear(parameters[1].weight.grad(), golden["bn1.weight"]);
  }
}

}  // namespace infeed::optimizer_test
