// Convolutions that normalize what they read, against LibTorch in float32 and
// against the norm and the convolution as two operations; on a CPU by a
// stand-in of cuDNN. A card for which cuDNN lacks the kernels runs two
// operations in all tests.
#include "trainer/network/normed_convolution.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/nn/modules/conv.h>
#include <torch/types.h>

#include "tests/support/device_array.h"

#ifdef INFEED_CUDA_ON_CPU
#include "tests/support/cudnn_on_cpu.h"
#endif

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed::normed_convolution_test {

#ifdef INFEED_CUDA_ON_CPU
constexpr c10::DeviceType kDevice = torch::kCPU;
#else
constexpr c10::DeviceType kDevice = torch::kCUDA;
#endif

struct Case {
  std::string name;
  std::int64_t channels;
  std::int64_t outputs;
  std::int64_t kernel;
  std::int64_t stride;
  bool has_sums = true;  // those of x, by the convolution before
};

// A norm and the convolution after it, with what they read.
struct Layers {
  explicit Layers(const Case& of, torch::ScalarType type = torch::kHalf,
                  bool bias = false, std::int64_t groups = 1)
      : convolution(torch::nn::Conv2dOptions(of.channels, of.outputs, of.kernel)
                        .stride(of.stride)
                        .padding(of.kernel / 2)
                        .groups(groups)
                        .bias(bias)) {
    convolution->to(kDevice);
    x = (torch::randn({4, of.channels, 14, 14}) + 0.5)
            .to(torch::device(kDevice).dtype(type))
            .contiguous(at::MemoryFormat::ChannelsLast)
            .requires_grad_();
    norm.weight = Channels(torch::rand({of.channels}) + 0.5);
    norm.bias = Channels(torch::randn({of.channels}) * 0.3);
    norm.moving_mean = torch::zeros({of.channels}, kDevice);
    norm.moving_variance = torch::ones({of.channels}, kDevice);
    if (of.has_sums) {
      const torch::Tensor exact = x.detach().to(torch::kFloat);
      norm.sums =
          torch::stack({exact.sum({0, 2, 3}), exact.square().sum({0, 2, 3})});
    }
  }

  static torch::Tensor Channels(const torch::Tensor& values) {
    return values.to(kDevice).requires_grad_();
  }

  // Of a result's gradient of random numbers: those of x, the convolution's
  // weight, and the norm's weight and bias.
  std::vector<torch::Tensor> Gradients(const torch::Tensor& y) const {
    torch::manual_seed(5);
    const torch::Tensor gradient =
        torch::randn(y.sizes())
            .to(y.options())
            .contiguous(at::MemoryFormat::ChannelsLast);
    return torch::autograd::grad(
        {y}, {x, convolution->weight, norm.weight, norm.bias}, {gradient});
  }

  torch::nn::Conv2d convolution;
  torch::Tensor x;
  NormTensors norm;
};

Layers MakeLayers(const Case& of, torch::ScalarType type = torch::kHalf,
                  bool bias = false, std::int64_t groups = 1) {
  torch::manual_seed(3);
  return Layers(of, type, bias, groups);
}

void ExpectNear(const torch::Tensor& found, const torch::Tensor& expected,
                double tolerance) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  const auto exact = [](const torch::Tensor& tensor) {
    return tensor.detach().to(torch::kCPU, torch::kDouble);
  };
  EXPECT_LE((exact(found) - exact(expected)).norm().item<double>(),
            tolerance * exact(expected).norm().item<double>());
}

// A value of float16 is known to 2^-12 of itself at best, the norm's scale and
// bias as well; a mask near 0 may differ.
constexpr double kRounding = 3e-3;

class NormedConvolutionTest : public DeviceTest,
                              public testing::WithParamInterface<Case> {};

TEST_P(NormedConvolutionTest, ResultSumsAndGradientsAreThoseOfBothLayers) {
  Layers layers = MakeLayers(GetParam());
#ifdef INFEED_CUDA_ON_CPU
  ResetCudnn();
#endif
  const SummedImages found =
      ConvolveNormed(layers.convolution, layers.x, layers.norm);
#ifdef INFEED_CUDA_ON_CPU
  ASSERT_TRUE(found.sums.defined());
#endif
  EXPECT_EQ(found.x.scalar_type(), torch::kHalf);
  EXPECT_TRUE(found.x.is_contiguous(at::MemoryFormat::ChannelsLast));
  const std::vector<torch::Tensor> gradients = layers.Gradients(found.x);
  EXPECT_EQ(gradients[1].scalar_type(), torch::kFloat);

  // In float32, of the same rounded weights.
  Layers exact = MakeLayers(GetParam());
  exact.x = exact.x.detach().to(torch::kFloat).requires_grad_();
  const torch::Tensor normed = at::batch_norm(
      exact.x, exact.norm.weight, exact.norm.bias, exact.norm.moving_mean,
      exact.norm.moving_variance, /*training=*/true, exact.norm.momentum,
      exact.norm.epsilon, /*cudnn_enabled=*/false);
  const torch::Tensor expected =
      at::conv2d(normed.relu(),
                 exact.convolution->weight.to(torch::kHalf).to(torch::kFloat),
                 {}, GetParam().stride, GetParam().kernel / 2);
  ExpectNear(found.x, expected, kRounding);
  if (found.sums.defined()) {
    EXPECT_FALSE(found.sums.requires_grad());
    ExpectNear(found.sums[0], expected.sum({0, 2, 3}), kRounding);
    ExpectNear(found.sums[1], expected.square().sum({0, 2, 3}), kRounding);
  }
  const std::vector<torch::Tensor> wanted = exact.Gradients(expected);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE("gradient " + std::to_string(i));
    ExpectNear(gradients[i], wanted[i], 3 * kRounding);
  }
#ifdef INFEED_CUDA_ON_CPU
  const std::map<std::string, int> each = {
      {"normed", 1}, {"weight gradient", 1}, {"input gradient", 1}};
  EXPECT_EQ(CallsOfCudnn().graphs, each);
#endif
}

TEST_P(NormedConvolutionTest, MovingStatisticsAreThoseOfTheNormAlone) {
  Layers layers = MakeLayers(GetParam());
  static_cast<void>(ConvolveNormed(layers.convolution, layers.x, layers.norm));
  Layers alone = MakeLayers(GetParam());
  static_cast<void>(FusedNorm(alone.x, alone.norm, {}, /*relu=*/true));
  EXPECT_TRUE(layers.norm.moving_mean.equal(alone.norm.moving_mean));
  EXPECT_TRUE(layers.norm.moving_variance.equal(alone.norm.moving_variance));
  EXPECT_FALSE(layers.norm.moving_mean.equal(
      torch::zeros_like(layers.norm.moving_mean)));
}

INSTANTIATE_TEST_SUITE_P(
    All, NormedConvolutionTest,
    testing::Values(Case{"Widening", 64, 256, 1, 1},
                    Case{"Square", 64, 64, 3, 1}, Case{"Halved", 64, 128, 3, 2},
                    Case{"OfPass", 64, 64, 3, 1, /*has_sums=*/false}),
    [](const auto& info) { return info.param.name; });

class TwoOperationsTest : public DeviceTest {
 protected:
  // Runs the layers with the same result as both by themselves.
  static void ExpectTwoOperations(Layers layers, Layers same) {
#ifdef INFEED_CUDA_ON_CPU
    const auto settings = CudnnSettings();
    ResetCudnn();
    CudnnSettings() = settings;
#endif
    const SummedImages found =
        ConvolveNormed(layers.convolution, layers.x, layers.norm);
    const SummedImages expected = ConvolveSummed(
        same.convolution, FusedNorm(same.x, same.norm, {}, /*relu=*/true));
    EXPECT_TRUE(found.x.equal(expected.x));
    EXPECT_TRUE(layers.norm.moving_mean.equal(same.norm.moving_mean));
#ifdef INFEED_CUDA_ON_CPU
    EXPECT_FALSE(CallsOfCudnn().graphs.contains("normed"));
#endif
  }
  static void TearDownTestSuite() {
#ifdef INFEED_CUDA_ON_CPU
    ResetCudnn();
#endif
  }
};

TEST_F(TwoOperationsTest, OtherTypesAndConvolutionsAreTwoOperations) {
  const Case of = {"", 16, 32, 3, 1};
  for (const torch::ScalarType type : {torch::kFloat, torch::kBFloat16}) {
    Layers layers = MakeLayers(of, type);
    Layers same = MakeLayers(of, type);
    layers.convolution->to(type);
    same.convolution->to(type);
    ExpectTwoOperations(layers, same);
  }
  for (const std::int64_t groups : {1, 2}) {
    const auto make = [&] {
      Layers layers =
          MakeLayers(of, torch::kHalf, /*bias=*/groups == 1, groups);
      layers.convolution->to(torch::kHalf);
      return layers;
    };
    ExpectTwoOperations(make(), make());
  }
}

TEST_F(TwoOperationsTest, FrozenPartsMakeThemTwoOperations) {
  const Case of = {"", 16, 32, 3, 1};
  for (int frozen = 0; frozen < 4; ++frozen) {
    SCOPED_TRACE(frozen);
    Layers layers = MakeLayers(of);
    Layers same = MakeLayers(of);
    for (Layers* const each : {&layers, &same}) {
      torch::Tensor part = std::vector<torch::Tensor>{
          each->x, each->convolution->weight, each->norm.weight,
          each->norm.bias}[static_cast<std::size_t>(frozen)];
      part.requires_grad_(false);
    }
    ExpectTwoOperations(layers, same);
  }
  const torch::NoGradGuard no_grad;
  ExpectTwoOperations(MakeLayers(of), MakeLayers(of));
}

#ifdef INFEED_CUDA_ON_CPU
// A shape's kernels are looked for once, so each has another one.
TEST_F(TwoOperationsTest, AMissingKernelMakesThemTwoOperations) {
  std::int64_t channels = 24;
  for (const std::string name :
       {"normed", "weight gradient", "input gradient"}) {
    SCOPED_TRACE(name);
    CudnnSettings().without_engines = {name};
    const Case of = {"", channels, 16, 3, 1};
    ExpectTwoOperations(MakeLayers(of), MakeLayers(of));
    channels += 8;
  }
}
#endif

}  // namespace infeed::normed_convolution_test
