#include "trainer/network/convolution.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>

#include "tests/support/junk_memory.h"
#include "trainer/loop/device.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

struct Shape {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel;
  std::int64_t stride;
};

// The result and the gradients of x and weight, in float32.
std::vector<torch::Tensor> Pass(const Shape& shape, std::int64_t batch,
                                std::int64_t side, bool bfloat16) {
  torch::manual_seed(5);
  constexpr auto kFormat = at::MemoryFormat::ChannelsLast;
  const torch::Tensor x = torch::randn({batch, shape.in, side, side})
                              .contiguous(kFormat)
                              .requires_grad_();
  torch::nn::Conv2d layer(
      torch::nn::Conv2dOptions(shape.in, shape.out, shape.kernel)
          .stride(shape.stride)
          .padding(shape.kernel / 2)
          .bias(false));
  layer->weight.set_data(layer->weight.contiguous(kFormat));
  const AutocastScope autocast(
      torch::kCPU, bfloat16 ? Precision::kBfloat16 : Precision::kFloat32);
  const torch::Tensor y = Convolve(layer, x);
  (y * torch::randn(y.sizes())).sum().backward();
  return {y.detach().to(torch::kFloat), x.grad(), layer->weight.grad()};
}

// Shapes of the networks: stems, 3x3 and 1x1 with and without a stride.
class ConvolutionTest
    : public testing::TestWithParam<std::tuple<Shape, std::int64_t>> {};

TEST_P(ConvolutionTest, ReadsNoMemoryThatIsNotWrittenInBfloat16) {
  const auto& [shape, side] = GetParam();
  for (const std::int64_t batch : {1, 3, 8}) {
    const auto expected = Pass(shape, batch, side, false);
    const JunkMemory junk;
    const auto actual = Pass(shape, batch, side, true);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", tensor " +
                   std::to_string(i));
      EXPECT_TRUE(actual[i].isfinite().all().item<bool>());
      EXPECT_EQ(actual[i].sizes(), expected[i].sizes());
      // Without AVX-512 the library also adds in bfloat16.
      EXPECT_LT((actual[i] - expected[i]).norm().item<float>(),
                0.1 * expected[i].norm().item<float>());
    }
  }
}

std::string NameOf(
    const testing::TestParamInfo<std::tuple<Shape, std::int64_t>>& info) {
  const auto& [shape, side] = info.param;
  return std::to_string(shape.in) + "to" + std::to_string(shape.out) +
         "_kernel" + std::to_string(shape.kernel) + "_stride" +
         std::to_string(shape.stride) + "_side" + std::to_string(side);
}

INSTANTIATE_TEST_SUITE_P(
    ShapesAndSides, ConvolutionTest,
    testing::Combine(testing::Values(Shape{3, 64, 7, 2}, Shape{3, 64, 3, 1},
                                     Shape{3, 32, 3, 2}, Shape{64, 64, 3, 1},
                                     Shape{64, 64, 3, 2}, Shape{64, 128, 3, 2},
                                     Shape{64, 128, 1, 2},
                                     Shape{64, 128, 1, 1}),
                     testing::Values(1, 2, 3, 4, 7, 8, 15)),
    NameOf);

// The zeros that are added change nothing where nothing was wrong.
TEST(ConvolveTest, Float32MatchesTheLibrary) {
  for (const std::int64_t kernel : {1, 3, 7}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      for (const std::int64_t side : {1, 2, 5}) {
        torch::nn::Conv2d layer(torch::nn::Conv2dOptions(4, 6, kernel)
                                    .stride(stride)
                                    .padding(kernel / 2));
        const torch::Tensor x = torch::randn({2, 4, side, side});
        const torch::Tensor expected = layer->forward(x);
        const torch::Tensor actual = Convolve(layer, x);
        ASSERT_EQ(actual.sizes(), expected.sizes());
        EXPECT_TRUE(at::allclose(actual, expected, 1e-5, 1e-6));
      }
    }
  }
}

}  // namespace
}  // namespace infeed
