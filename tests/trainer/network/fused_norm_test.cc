#include "trainer/network/fused_norm.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/functional/batchnorm.h>
#include <torch/types.h>

#include "trainer/network/batch_norm.h"
#include "trainer/network/network.h"

#include "gtest/gtest.h"

namespace infeed::fused_norm_test {

struct Case {
  std::string name;
  bool residual = false;
  bool relu = false;
  bool residual_norm = false;  // the residual is normalized too
};

// Leaves of a graph, and a weight for each element of the result.
struct Inputs {
  torch::Tensor x;
  NormResidual residual;
  NormTensors norm;
  torch::Tensor out;
};

Inputs MakeInputs(const Case& kind, torch::ScalarType type) {
  torch::manual_seed(3);
  const auto options = torch::dtype(torch::kDouble);
  const auto leaf = [&](const torch::Tensor& values) {
    return values.to(type).detach().requires_grad_();
  };
  Inputs inputs;
  inputs.x = leaf((torch::randn({3, 8, 4, 5}, options) * 2 + 7)
                      .contiguous(at::MemoryFormat::ChannelsLast));
  if (kind.residual) {
    inputs.residual.x = leaf(torch::randn({3, 8, 4, 5}, options));
  }
  const auto exact = type == torch::kBFloat16 ? torch::kFloat : type;
  const auto numbers = [&](double offset) {
    return (torch::randn({8}, options).abs() + offset).to(exact).detach();
  };
  const auto norm = [&] {
    return NormTensors{.weight = numbers(0.5).requires_grad_(),
                       .bias = numbers(-0.5).requires_grad_(),
                       .moving_mean = numbers(0),
                       .moving_variance = numbers(1),
                       .momentum = 0.3,
                       .epsilon = 1e-3};
  };
  inputs.norm = norm();
  if (kind.residual_norm) {
    inputs.residual.norm = norm();
  }
  inputs.out = torch::randn({3, 8, 4, 5}, options).to(type);
  return inputs;
}

torch::Tensor EagerNorm(const torch::Tensor& x, const NormTensors& norm) {
  namespace F = torch::nn::functional;
  return F::batch_norm(x, norm.moving_mean, norm.moving_variance,
                       F::BatchNormFuncOptions()
                           .weight(norm.weight)
                           .bias(norm.bias)
                           .training(true)
                           .momentum(norm.momentum)
                           .eps(norm.epsilon));
}

torch::Tensor Eager(const Inputs& inputs, const Case& kind) {
  torch::Tensor y = EagerNorm(inputs.x, inputs.norm);
  if (kind.residual) {
    const NormResidual& residual = inputs.residual;
    y = y +
        (residual.norm ? EagerNorm(residual.x, *residual.norm) : residual.x);
  }
  return kind.relu ? y.relu() : y;
}

torch::Tensor Fused(const Inputs& inputs, const Case& kind) {
  return FusedNorm(inputs.x, inputs.norm, inputs.residual, kind.relu);
}

std::vector<torch::Tensor> Leaves(const Inputs& inputs) {
  std::vector<torch::Tensor> leaves = {inputs.x, inputs.norm.weight,
                                       inputs.norm.bias};
  if (inputs.residual.x.defined()) {
    leaves.push_back(inputs.residual.x);
  }
  if (const auto& norm = inputs.residual.norm) {
    leaves.push_back(norm->weight);
    leaves.push_back(norm->bias);
  }
  return leaves;
}

void ExpectNear(const torch::Tensor& found, const torch::Tensor& expected,
                double tolerance) {
  EXPECT_EQ(found.scalar_type(), expected.scalar_type());
  EXPECT_TRUE(found.to(torch::kDouble)
                  .allclose(expected.to(torch::kDouble), tolerance, tolerance))
      << (found - expected).abs().max();
}

class FusedNormTest : public testing::TestWithParam<Case> {};

TEST_P(FusedNormTest, FusedEqualsNormSumAndRelu) {
  for (const auto& [type, tolerance] :
       {std::pair{torch::kDouble, 1e-11}, std::pair{torch::kFloat, 3e-5},
        std::pair{torch::kBFloat16, 3e-2}}) {
    const Inputs fused = MakeInputs(GetParam(), type);
    const Inputs eager = MakeInputs(GetParam(), type);
    const torch::Tensor y = Fused(fused, GetParam());
    const torch::Tensor expected = Eager(eager, GetParam());
    ExpectNear(y, expected, tolerance);
    EXPECT_TRUE(y.is_contiguous(at::MemoryFormat::ChannelsLast));
    ExpectNear(fused.norm.moving_mean, eager.norm.moving_mean, tolerance);
    ExpectNear(fused.norm.moving_variance, eager.norm.moving_variance,
               tolerance);
    if (const auto& norm = fused.residual.norm) {
      ExpectNear(norm->moving_mean, eager.residual.norm->moving_mean,
                 tolerance);
      ExpectNear(norm->moving_variance, eager.residual.norm->moving_variance,
                 tolerance);
    }
    y.backward(fused.out);
    expected.backward(eager.out);
    for (std::size_t i = 0; i < Leaves(fused).size(); ++i) {
      if (type != torch::kBFloat16) {  // There the eager one rounds midway.
        ExpectNear(Leaves(fused)[i].grad(), Leaves(eager)[i].grad(),
                   tolerance * 10);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, FusedNormTest,
    testing::Values(Case{"Norm"}, Case{"NormRelu", false, true},
                    Case{"NormAdd", true, false},
                    Case{"NormAddRelu", true, true},
                    Case{"NormAddNorm", true, false, true},
                    Case{"NormAddNormRelu", true, true, true}),
    [](const auto& param_info) { return param_info.param.name; });

// The result, and the gradients of the leaves: y's two users are w1 and w2.
std::vector<torch::Tensor> TwoUses(const Case& kind, torch::ScalarType type,
                                   bool is_forked) {
  const Inputs inputs = MakeInputs(kind, type);
  torch::Tensor y;
  torch::Tensor twin;
  if (is_forked) {
    std::tie(y, twin) = ForkedNorm(inputs.x, inputs.norm, inputs.residual);
    EXPECT_EQ(y.data_ptr(), twin.data_ptr());
  } else {
    twin = y = FusedNorm(inputs.x, inputs.norm, inputs.residual, true);
  }
  torch::autograd::backward(
      {y.mul(inputs.out).sum(), twin.mul(inputs.out.square()).sum()}, {});
  std::vector<torch::Tensor> found = {
      y, inputs.x.grad(), inputs.norm.weight.grad(), inputs.norm.bias.grad(),
      inputs.residual.x.grad()};
  if (inputs.residual.norm) {
    found.push_back(inputs.residual.norm->weight.grad());
    found.push_back(inputs.residual.norm->bias.grad());
  }
  return found;
}

TEST(ForkedNormTest, AddsUpBothGradientsAsAutogradDoes) {
  for (const Case& kind :
       {Case{"", true, true}, Case{"", true, true, /*residual_norm=*/true}}) {
    for (const torch::ScalarType type : {torch::kFloat, torch::kBFloat16}) {
      const auto forked = TwoUses(kind, type, true);
      const auto summed = TwoUses(kind, type, false);
      for (std::size_t i = 0; i < summed.size(); ++i) {
        EXPECT_TRUE(forked[i].equal(summed[i])) << type << " " << i;
      }
    }
  }
}

TEST(ForkedNormTest, NeedsNoGradientOfAResultThatIsNotUsed) {
  const Case kind = {"", true, true};
  for (const bool first : {true, false}) {
    const Inputs inputs = MakeInputs(kind, torch::kFloat);
    const auto [y, twin] = ForkedNorm(inputs.x, inputs.norm, inputs.residual);
    (first ? y : twin).backward(inputs.out);
    const Inputs plain = MakeInputs(kind, torch::kFloat);
    FusedNorm(plain.x, plain.norm, plain.residual, true).backward(plain.out);
    EXPECT_TRUE(inputs.x.grad().equal(plain.x.grad()));
    EXPECT_TRUE(inputs.residual.x.grad().equal(plain.residual.x.grad()));
  }
}

BatchNorm MakeModule(bool fused) {
  BatchNorm norm(BatchNormOptions{.channels = 8});
  norm->set_fused(fused);
  const torch::NoGradGuard no_grad;
  norm->weight.copy_(torch::linspace(-1, 1, 8));
  norm->bias.copy_(torch::linspace(0, 1, 8));
  return norm;
}

// On the CPU, where it is slower.
TEST(ForwardReluTest, TheCpuFusesOnlyWhenAsked) {
  const Inputs inputs = MakeInputs({""}, torch::kFloat);
  BatchNorm open = MakeModule(false);
  BatchNorm eager = MakeModule(false);
  open->set_fused(std::nullopt);
  EXPECT_TRUE(open->ForwardRelu(inputs.x).equal(eager->ForwardRelu(inputs.x)));
}

TEST(ForwardReluTest, UsesMovingStatisticsInEvaluation) {
  const Inputs inputs = MakeInputs({""}, torch::kFloat);
  BatchNorm norm = MakeModule(true);
  norm->eval();
  EXPECT_TRUE(
      norm->ForwardRelu(inputs.x).equal(norm->forward(inputs.x).relu()));
  EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), 0);
}

// Logits, and the gradients of all parameters, of a training pass.
std::vector<torch::Tensor> PassOf(ModelOptions options, bool fused) {
  options.fused_batch_norm = fused;
  const std::shared_ptr<Network> network = MakeNetwork(options);
  network->to(torch::kDouble);
  network->SetStep(0);
  torch::manual_seed(1);
  const torch::Tensor logits =
      network->Forward(torch::randn({4, 3, 16, 16}, torch::kDouble));
  logits.square().sum().backward();
  std::vector<torch::Tensor> found = {logits};
  for (const torch::Tensor& parameter : network->parameters()) {
    found.push_back(parameter.grad());
  }
  for (const torch::Tensor& buffer : network->buffers()) {
    found.push_back(buffer);
  }
  return found;
}

TEST(FusedNetworkTest, TrainsAsTheOneThatIsNot) {
  const ModelOptions plain = {
      .depth = 18, .num_classes = 3, .small_stem = true, .zero_gamma = false};
  std::vector<ModelOptions> models(3, plain);
  models[1].pre_activation = true;
  models[2].depth = 50;
  models[2].se_ratio = 0.25;
  models[2].drop_connect_rate = 0.3;
  for (const ModelVariant variant :
       {ModelVariant::kTorchvision, ModelVariant::kTpu}) {  // with a pool
    models.push_back({.variant = variant,
                      .depth = 18,
                      .num_classes = 3,
                      .zero_gamma = false});
  }
  for (const ModelOptions& model : models) {
    const std::vector<torch::Tensor> fused = PassOf(model, true);
    const std::vector<torch::Tensor> eager = PassOf(model, false);
    ASSERT_EQ(fused.size(), eager.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const double scale = 1 + eager[i].abs().max().item<double>();
      EXPECT_LE((fused[i] - eager[i]).abs().max().item<double>(), 1e-8 * scale)
          << i;
    }
  }
}

}  // namespace infeed::fused_norm_test
