#include "trainer/optimizer.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "gtest/gtest.h"

namespace infeed {
namespace {

// The definition, one number at a time, in double.
struct ScalarMomentum {
  double weight;
  double average = 0;

  void Step(double gradient, double rate, const MomentumOptions& options,
            bool decayed) {
    const double g = gradient + (decayed ? options.weight_decay * weight : 0.0);
    average = options.momentum * average + g;
    weight -=
        rate * (options.nesterov ? g + options.momentum * average : average);
  }
};

torch::Tensor Noise(at::IntArrayRef shape, double phase) {
  const torch::Tensor index = torch::arange(torch::empty(shape).numel());
  return (index * 0.7 + phase).sin().reshape(shape).to(torch::kFloat);
}

std::vector<OptimizedParameter> TwoParameters() {
  // The first is longer than a stretch and in channels_last order.
  return {{.name = "conv1.weight",
           .weight = Noise({40, 64, 3, 3}, 1)
                         .contiguous(at::MemoryFormat::ChannelsLast)
                         .requires_grad_(),
           .decayed = true},
          {.name = "bn1.weight",
           .weight = Noise({37}, 2).requires_grad_(),
           .decayed = false}};
}

class MomentumOptimizerTest : public testing::TestWithParam<MomentumOptions> {};

TEST_P(MomentumOptimizerTest, IsItsScalarDefinition) {
  const std::vector<OptimizedParameter> parameters = TwoParameters();
  std::vector<std::vector<ScalarMomentum>> twins;
  for (const OptimizedParameter& parameter : parameters) {
    const torch::Tensor dense = parameter.weight.detach().contiguous();
    const auto* data = dense.data_ptr<float>();
    twins.emplace_back(data, data + dense.numel());
  }
  MomentumOptimizer optimizer(parameters, GetParam());
  for (int step = 0; step < 4; ++step) {
    const float rate = 0.1F / static_cast<float>(step + 1);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      torch::Tensor weight = parameters[i].weight;
      // Row-major, so that it must be brought into the weight's order.
      const torch::Tensor gradient = Noise(weight.sizes(), 3 + step);
      weight.mutable_grad() = gradient.clone();
      const auto* data = gradient.data_ptr<float>();
      for (std::size_t j = 0; j < twins[i].size(); ++j) {
        twins[i][j].Step(data[j], rate, GetParam(), parameters[i].decayed);
      }
    }
    optimizer.Step(torch::tensor(rate));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const torch::Tensor dense = parameters[i].weight.detach().contiguous();
    const auto* data = dense.data_ptr<float>();
    for (std::size_t j = 0; j < twins[i].size(); ++j) {
      ASSERT_NEAR(data[j], twins[i][j].weight, 1e-5) << i << " " << j;
    }
  }
}

TEST_P(MomentumOptimizerTest, ReturnsTheL2TermOfTheWeightsBefore) {
  std::vector<OptimizedParameter> parameters = TwoParameters();
  double squares = 0;
  const torch::Tensor dense = parameters[0].weight.detach().contiguous();
  for (std::int64_t j = 0; j < dense.numel(); ++j) {
    squares += std::pow(dense.data_ptr<float>()[j], 2);
  }
  for (OptimizedParameter& parameter : parameters) {
    parameter.weight.mutable_grad() = torch::ones_like(parameter.weight);
  }
  MomentumOptimizer optimizer(parameters, GetParam());
  const double expected = GetParam().weight_decay / 2 * squares;
  EXPECT_NEAR(optimizer.Step(torch::tensor(0.5F)).item<float>(), expected,
              1e-5 * expected);
}

TEST_P(MomentumOptimizerTest, DropsTheGradients) {
  std::vector<OptimizedParameter> parameters = TwoParameters();
  for (OptimizedParameter& parameter : parameters) {
    parameter.weight.mutable_grad() = torch::ones_like(parameter.weight);
  }
  MomentumOptimizer(parameters, GetParam()).Step(torch::tensor(0.5F));
  EXPECT_FALSE(parameters[0].weight.grad().defined());
  EXPECT_FALSE(parameters[1].weight.grad().defined());
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, MomentumOptimizerTest,
    testing::Values(
        MomentumOptions{.weight_decay = 0.01},
        MomentumOptions{.nesterov = false, .weight_decay = 0.01},
        MomentumOptions{.weight_decay = 0.01, .library_kernels = true},
        MomentumOptions{
            .nesterov = false, .weight_decay = 0.01, .library_kernels = true}),
    [](const auto& param_info) {
      return std::string(param_info.param.library_kernels ? "Library"
                                                          : "OnePass") +
             (param_info.param.nesterov ? "Nesterov" : "Plain");
    });

TEST(MomentumOptimizerThreadsTest, IsBitIdenticalForAnyNumberOfThreads) {
  std::vector<torch::Tensor> weights;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    std::vector<OptimizedParameter> parameters = TwoParameters();
    for (OptimizedParameter& parameter : parameters) {
      parameter.weight.mutable_grad() = Noise(parameter.weight.sizes(), 5);
    }
    weights.push_back(
        MomentumOptimizer(parameters, {}).Step(torch::tensor(0.5F)));
    weights.push_back(parameters[0].weight.detach());
  }
  EXPECT_TRUE(weights[0].equal(weights[2]));
  EXPECT_TRUE(weights[1].equal(weights[3]));
}

}  // namespace
}  // namespace infeed
