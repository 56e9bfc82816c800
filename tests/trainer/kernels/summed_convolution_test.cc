// Convolutions that sum their results for a norm, against LibTorch's; on a CPU
// by a stand-in of cuDNN.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/nn/modules/conv.h>
#include <torch/types.h>

#include "tests/support/device_array.h"
#include "tests/support/kernel_tensors.h"
#include "trainer/network/convolution.h"

#ifdef INFEED_CUDA_ON_CPU
#include "tests/support/cudnn_on_cpu.h"
#endif

#include "gtest/gtest.h"

namespace infeed::summed_convolution_test {

struct Case {
  std::string name;
  std::int64_t channels;
  std::int64_t outputs;
  std::int64_t kernel;
  std::int64_t stride;
};

torch::nn::Conv2d MakeConvolution(const Case& of, bool bias = false,
                                  std::int64_t groups = 1) {
  torch::manual_seed(3);
  return SquareConv2d(of.channels, of.outputs, of.kernel, of.stride, bias,
                      groups);
}

torch::Tensor MakeImages(at::IntArrayRef sizes,
                         torch::ScalarType type = torch::kBFloat16) {
  torch::manual_seed(4);
  return RandomImages(sizes, type);
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

// A value of bfloat16 is known to 2^-9 of itself. cuDNN may sum before it
// rounds.
constexpr double kRounding = 4e-3;

void ExpectSumsOf(const SummedImages& found) {
  const torch::Tensor y = found.x.detach().to(torch::kDouble);
  ExpectNear(found.sums[0], y.sum({0, 2, 3}), kRounding);
  ExpectNear(found.sums[1], y.square().sum({0, 2, 3}), kRounding);
  EXPECT_FALSE(found.sums.requires_grad());
}

class SummedConvolutionTest : public DeviceTest,
                              public testing::WithParamInterface<Case> {};

TEST_P(SummedConvolutionTest, ResultSumsAndGradientsAreTheConvolutions) {
  torch::nn::Conv2d convolution = MakeConvolution(GetParam());
  const torch::Tensor x =
      MakeImages({4, GetParam().channels, 14, 14}).requires_grad_();
  const SummedImages found = ConvolveSummed(convolution, x);
  ASSERT_TRUE(found.sums.defined());
  EXPECT_EQ(found.x.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(found.x.is_contiguous(at::MemoryFormat::ChannelsLast));
  ExpectSumsOf(found);

  // In float32, of the same rounded weights.
  const torch::Tensor exact_x = x.detach().to(torch::kFloat).requires_grad_();
  const torch::Tensor weight = convolution->weight.detach()
                                   .to(torch::kBFloat16)
                                   .to(torch::kFloat)
                                   .requires_grad_();
  const torch::Tensor expected =
      at::conv2d(exact_x, weight, {}, GetParam().stride, GetParam().kernel / 2);
  ExpectNear(found.x, expected, kRounding);
  const torch::Tensor gradient = MakeImages(expected.sizes());
  found.x.backward(gradient);
  expected.backward(gradient.to(torch::kFloat));
  ExpectNear(x.grad(), exact_x.grad(), kRounding);
  ExpectNear(convolution->weight.grad(), weight.grad(), kRounding);
  EXPECT_EQ(convolution->weight.grad().scalar_type(), torch::kFloat);
}

INSTANTIATE_TEST_SUITE_P(All, SummedConvolutionTest,
                         testing::Values(Case{"Narrow", 64, 256, 1, 1},
                                         Case{"Wide", 64, 64, 3, 1},
                                         Case{"Halved", 64, 128, 3, 2},
                                         Case{"Shortcut", 64, 128, 1, 2}),
                         [](const auto& info) { return info.param.name; });

using SummedImagesTest = DeviceTest;

// Padded weights, and the weight for squares of 2x2 pixels.
TEST_F(SummedImagesTest, StemsAreSummedWhereCudnnCan) {
  torch::nn::Conv2d convolution = MakeConvolution({"", 3, 64, 7, 2});
  torch::Tensor images = MakeImages({2, 4, 32, 32});
  images.narrow(1, 3, 1).zero_();
  for (const torch::Tensor& x : {images, SpaceToDepth(images)}) {
    const SummedImages found = ConvolveImagesSummed(convolution, x);
    const torch::Tensor expected =
        at::conv2d(images.narrow(1, 0, 3).to(torch::kFloat),
                   convolution->weight, {}, 2, 3);
    ExpectNear(found.x, expected, 2 * kRounding);
    if (found.sums.defined()) {
      ExpectSumsOf(found);
    }
#ifdef INFEED_CUDA_ON_CPU
    EXPECT_TRUE(found.sums.defined());
#endif
  }
}

TEST_F(SummedImagesTest, OthersAreLibTorchsConvolutions) {
  const Case of = {"", 16, 16, 3, 1};
  const auto expect_plain = [](torch::nn::Conv2d convolution,
                               const torch::Tensor& x) {
    const SummedImages found = ConvolveSummed(convolution, x);
    EXPECT_FALSE(found.sums.defined());
    EXPECT_TRUE(found.x.equal(Convolve(convolution, x)));
  };
  const torch::Tensor x = MakeImages({2, 16, 9, 9}, torch::kFloat);
  expect_plain(MakeConvolution(of), x);
  expect_plain(MakeConvolution(of, /*bias=*/true), x);
  expect_plain(MakeConvolution(of, /*bias=*/false, /*groups=*/2), x);
#ifdef INFEED_CUDA_ON_CPU
  // cuDNN has no kernel for a shape of its own.
  CudnnSettings().rejected = {0, 1, 2, 3};
  torch::nn::Conv2d convolution = MakeConvolution({"", 16, 24, 3, 1});
  convolution->to(torch::kBFloat16);
  expect_plain(convolution, MakeImages({2, 16, 11, 9}));
  ResetCudnn();
#endif
}

}  // namespace infeed::summed_convolution_test
