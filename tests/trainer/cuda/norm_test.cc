// Batch norm's kernels against the CPU's formula.
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include "trainer/network/fused_norm.h"

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

// On one device: what FusedNorm() takes, and a gradient of its result.
struct Inputs {
  torch::Tensor x;
  torch::Tensor residual;  // or undefined
  NormTensors norm;
  torch::Tensor gradient;

  [[nodiscard]] Inputs To(const torch::Device& device) const {
    const auto copy = [&](const torch::Tensor& tensor) {
      return tensor.defined()
                 ? tensor.detach().to(device, /*non_blocking=*/false,
                                      /*copy=*/true)
                 : tensor;
    };
    return {.x = copy(x),
            .residual = copy(residual),
            .norm = {.weight = copy(norm.weight),
                     .bias = copy(norm.bias),
                     .moving_mean = copy(norm.moving_mean),
                     .moving_variance = copy(norm.moving_variance)},
            .gradient = copy(gradient)};
  }
};

class CudaNormTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) {
      GTEST_SKIP() << "LibTorch finds no GPU";
    }
  }

  static Inputs MakeInputs(at::IntArrayRef shape) {
    torch::manual_seed(9);
    const std::int64_t channels = shape[1];
    const auto image = [&](double mean) {
      return (torch::randn(shape) * 3 + mean)
          .to(GetParam().type)
          .contiguous(at::MemoryFormat::ChannelsLast);
    };
    return {.x = image(20),
            .residual = GetParam().residual ? image(0) : torch::Tensor(),
            .norm = {.weight = torch::rand({channels}) + 0.5,
                     .bias = torch::randn({channels}),
                     .moving_mean = torch::randn({channels}),
                     .moving_variance = torch::rand({channels})},
            .gradient = image(0.1)};
  }

  static NormOutputs Forward(const Inputs& inputs) {
    return CudaNormForward(inputs.x, inputs.norm, {.x = inputs.residual},
                           GetParam().relu);
  }

  static NormGradients Backward(const NormOutputs& outputs,
                                const Inputs& inputs) {
    return CudaNormBackward(
        {.x = inputs.x,
         .y = GetParam().residual ? outputs.y : torch::Tensor(),
         .weight = inputs.norm.weight,
         .bias = inputs.norm.bias,
         .statistics = outputs.of_x,
         .gradient = inputs.gradient,
         .relu = GetParam().relu,
         .has_residual = GetParam().residual});
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

TEST_P(CudaNormTest, GpuNormMatchesTheCpus) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{4, 64, 14, 14},
        {2, 2048, 7, 7},
        {3, 72, 5, 9},
        {1, 8, 1, 2}}) {
    const Inputs on_cpu = MakeInputs(shape);
    const Inputs on_gpu = on_cpu.To(torch::kCUDA);
    for (const torch::Tensor& leaf :
         {on_cpu.x, on_cpu.norm.weight, on_cpu.norm.bias, on_cpu.residual}) {
      if (leaf.defined()) {
        leaf.requires_grad_();
      }
    }
    const torch::Tensor y = FusedNorm(on_cpu.x, on_cpu.norm,
                                      {.x = on_cpu.residual}, GetParam().relu);
    y.backward(on_cpu.gradient);
    NormOutputs found = Forward(on_gpu);
    ExpectNear(found.y, y);
    ExpectNear(on_gpu.norm.moving_mean, on_cpu.norm.moving_mean);
    ExpectNear(on_gpu.norm.moving_variance, on_cpu.norm.moving_variance);
    // Where y is nearly 0, the two may differ in whether it is 0.
    found.y = y.detach().to(torch::kCUDA);
    const NormGradients gradients = Backward(found, on_gpu);
    ExpectNear(gradients.x, on_cpu.x.grad());
    ExpectNear(gradients.weight, on_cpu.norm.weight.grad());
    ExpectNear(gradients.bias, on_cpu.norm.bias.grad());
    if (GetParam().residual) {
      ExpectNear(gradients.residual, on_cpu.residual.grad());
    }
  }
}

TEST_P(CudaNormTest, HasTheSameBitsEachTimeAndInFusedNorm) {
  const Inputs inputs = MakeInputs({8, 64, 14, 14}).To(torch::kCUDA);
  const NormOutputs one = Forward(inputs);
  const NormOutputs other = Forward(inputs);
  EXPECT_TRUE(one.y.equal(other.y));
  EXPECT_TRUE(one.of_x.inverse_std.equal(other.of_x.inverse_std));
  const NormGradients of_one = Backward(one, inputs);
  const NormGradients of_other = Backward(other, inputs);
  EXPECT_TRUE(of_one.x.equal(of_other.x));
  EXPECT_TRUE(of_one.weight.equal(of_other.weight));
  EXPECT_TRUE(of_one.bias.equal(of_other.bias));
  EXPECT_TRUE(
      FusedNorm(inputs.x, inputs.norm, {.x = inputs.residual}, GetParam().relu)
          .equal(one.y));
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
      cases.push_back({name + "Float16", residual, relu, torch::kHalf, 2e-3});
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
