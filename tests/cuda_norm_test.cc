// Batch norm's kernels against the CPU's formula.
#include "trainer/cuda_norm.h"

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include "trainer/fused_norm.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

struct Case {
  std::string name;
  bool residual;
  bool relu;
  torch::ScalarType type;
  double tolerance;
};

struct Found {
  torch::Tensor y;
  std::vector<torch::Tensor> gradients;  // of x, weight, bias, residual
  std::vector<torch::Tensor> moving;
};

class CudaNormTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) {
      GTEST_SKIP() << "LibTorch finds no GPU";
    }
  }

  static Found Run(at::IntArrayRef shape, const torch::Device& device) {
    torch::manual_seed(9);
    const std::int64_t channels = shape[1];
    const auto leaf = [&](const torch::Tensor& values) {
      return values.to(device).detach().requires_grad_();
    };
    const auto image = [&](double mean) {
      return (torch::randn(shape) * 3 + mean)
          .to(GetParam().type)
          .contiguous(at::MemoryFormat::ChannelsLast);
    };
    const torch::Tensor x = leaf(image(20));
    const torch::Tensor residual =
        GetParam().residual ? leaf(image(0)) : torch::Tensor();
    const NormTensors norm = {
        .weight = leaf(torch::rand({channels}) + 0.5),
        .bias = leaf(torch::randn({channels})),
        .moving_mean = torch::randn({channels}).to(device),
        .moving_variance = torch::rand({channels}).to(device)};
    const torch::Tensor weights = image(0.1).to(device);
    const torch::Tensor y = FusedNorm(x, norm, residual, GetParam().relu);
    y.backward(weights);
    Found found = {
        .y = y,
        .gradients = {x.grad(), norm.weight.grad(), norm.bias.grad()},
        .moving = {norm.moving_mean, norm.moving_variance}};
    if (residual.defined()) {
      found.gradients.push_back(residual.grad());
    }
    return found;
  }

  static void ExpectNear(const torch::Tensor& found,
                         const torch::Tensor& expected) {
    const torch::Tensor exact = expected.detach().to(torch::kDouble);
    const torch::Tensor difference =
        (found.detach().to(torch::kCPU, torch::kDouble) - exact).abs();
    EXPECT_LE(difference.max().item<double>(),
              GetParam().tolerance * (1 + exact.abs().max().item<double>()));
  }
};

TEST_P(CudaNormTest, IsThatOfTheCpu) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{4, 64, 14, 14},
        {2, 2048, 7, 7},
        {3, 72, 5, 9},
        {1, 8, 1, 2}}) {
    const Found expected = Run(shape, torch::kCPU);
    const Found found = Run(shape, torch::kCUDA);
    ExpectNear(found.y, expected.y);
    for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
      ExpectNear(found.gradients[i], expected.gradients[i]);
    }
    for (std::size_t i = 0; i < expected.moving.size(); ++i) {
      ExpectNear(found.moving[i], expected.moving[i]);
    }
  }
}

TEST_P(CudaNormTest, HasTheSameBitsEachTime) {
  const Found one = Run({8, 64, 14, 14}, torch::kCUDA);
  const Found other = Run({8, 64, 14, 14}, torch::kCUDA);
  EXPECT_TRUE(one.y.equal(other.y));
  for (std::size_t i = 0; i < one.gradients.size(); ++i) {
    EXPECT_TRUE(one.gradients[i].equal(other.gradients[i]));
  }
}

TEST_P(CudaNormTest, TakesWhatItHasKernelsFor) {
  const auto options = torch::device(torch::kCUDA).dtype(GetParam().type);
  EXPECT_TRUE(CudaNormTakes(torch::empty({2, 16, 3, 3}, options)));
  EXPECT_FALSE(CudaNormTakes(torch::empty({2, 12, 3, 3}, options)));
  EXPECT_FALSE(CudaNormTakes(torch::empty({2, 16, 3, 3})));
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const bool residual : {false, true}) {
    for (const bool relu : {false, true}) {
      const std::string name =
          std::string("Norm") + (residual ? "Add" : "") + (relu ? "Relu" : "");
      cases.push_back({name, residual, relu, torch::kFloat, 2e-5});
      cases.push_back(
          {name + "Bfloat16", residual, relu, torch::kBFloat16, 1e-2});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, CudaNormTest, testing::ValuesIn(Cases()),
                         [](const auto& param_info) {
                           return param_info.param.name;
                         });

}  // namespace
}  // namespace infeed
