#include "trainer/network/convolution.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
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

// ---- The stem on SpaceToDepth() ----

torch::nn::Conv2d MakeStem(const torch::Tensor& weight) {
  torch::nn::Conv2d stem(
      torch::nn::Conv2dOptions(weight.size(1), weight.size(0), 7)
          .stride(2)
          .padding(3)
          .bias(false));
  stem->weight.set_data(
      weight.clone().contiguous(at::MemoryFormat::ChannelsLast));
  return stem;
}

struct StemPass {
  torch::Tensor y;
  torch::Tensor of_weight;
};

StemPass PassStem(const torch::Tensor& x, const torch::Tensor& weight,
                  const torch::Tensor& of_y) {
  torch::nn::Conv2d stem = MakeStem(weight);
  const torch::Tensor y = ConvolveImages(stem, x);
  y.backward(of_y.to(y.scalar_type()));
  return {y.detach(), stem->weight.grad()};
}

// Images, a weight, and a gradient of the result.
struct StemInputs {
  StemInputs(std::int64_t height, std::int64_t width)
      : images(torch::randn({3, 3, height, width})
                   .contiguous(at::MemoryFormat::ChannelsLast)),
        weight(torch::randn({8, 3, 7, 7})),
        of_y(torch::randn({3, 8, height / 2, width / 2})) {}

  // Small whole numbers, whose sums are exact in any order.
  void Round() {
    for (torch::Tensor* tensor : {&images, &weight, &of_y}) {
      *tensor = tensor->mul_(8).round_();
    }
  }

  torch::Tensor images;
  torch::Tensor weight;
  torch::Tensor of_y;
};

torch::Tensor WithFourthChannel(const torch::Tensor& images) {
  return at::constant_pad_nd(images, {0, 0, 0, 0, 0, 1});
}

TEST(SpaceToDepthTest, ASquareHasThePlaceOfAPixel) {
  const torch::Tensor images =
      torch::arange(2 * 3 * 4 * 6).reshape({2, 3, 4, 6}).add_(1);
  const torch::Tensor squares = SpaceToDepth(images);
  ASSERT_EQ(squares.sizes(), at::IntArrayRef({2, 16, 5, 6}));
  EXPECT_TRUE(squares.is_contiguous(at::MemoryFormat::ChannelsLast));
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t column = 0; column < 6; ++column) {
      const torch::Tensor pixel =
          squares.select(3, column / 2 + 2)
              .select(2, row / 2 + 2)
              .narrow(1, 8 * (row % 2) + 4 * (column % 2), 4);
      EXPECT_TRUE(
          pixel.narrow(1, 0, 3).equal(images.select(3, column).select(2, row)));
    }
  }
  // All else is zeros.
  EXPECT_EQ(squares.sum().item<std::int64_t>(),
            images.sum().item<std::int64_t>());
  EXPECT_TRUE(squares.equal(SpaceToDepth(WithFourthChannel(images))));
}

TEST(SpaceToDepthTest, GivesTheBitsOfThePlainStemWhereSumsAreExact) {
  for (const auto& [height, width] :
       {std::pair(2, 2), {2, 8}, {14, 6}, {32, 20}}) {
    for (const auto type : {torch::kFloat, torch::kDouble}) {
      StemInputs inputs(height, width);
      inputs.Round();
      const torch::Tensor images = inputs.images.to(type);
      const torch::Tensor weight = inputs.weight.to(type);
      const StemPass plain = PassStem(images, weight, inputs.of_y);
      for (const torch::Tensor& x : {images, WithFourthChannel(images)}) {
        const StemPass squares = PassStem(SpaceToDepth(x), weight, inputs.of_y);
        EXPECT_TRUE(squares.y.equal(plain.y)) << height << " " << width;
        EXPECT_TRUE(squares.of_weight.equal(plain.of_weight))
            << height << " " << width;
      }
    }
  }
}

// The bound of two sums of as many products in any order.
TEST(SpaceToDepthTest, GivesThePlainStemsNumbersInFloat32ByRounding) {
  const StemInputs inputs(64, 48);
  const StemPass plain = PassStem(inputs.images, inputs.weight, inputs.of_y);
  const StemPass squares =
      PassStem(SpaceToDepth(inputs.images), inputs.weight, inputs.of_y);
  const StemPass sizes =
      PassStem(inputs.images.abs(), inputs.weight.abs(), inputs.of_y.abs());
  const auto is_near = [](const torch::Tensor& a, const torch::Tensor& b,
                          const torch::Tensor& size, std::int64_t products) {
    const double bound = 2.01 * static_cast<double>(products) * 0x1p-24;
    return (a - b).abs().le(size * bound).all().item<bool>();
  };
  EXPECT_TRUE(is_near(plain.y, squares.y, sizes.y, 3 * 7 * 7));
  EXPECT_TRUE(is_near(plain.of_weight, squares.of_weight, sizes.of_weight,
                      3 * 32 * 24));
}

TEST(SpaceToDepthTest, IsInBfloat16ThePlainStemByItsRounding) {
  const StemInputs inputs(32, 32);
  const StemPass exact = PassStem(inputs.images, inputs.weight, inputs.of_y);
  const AutocastScope autocast(torch::kCPU, Precision::kBfloat16);
  const StemPass squares =
      PassStem(SpaceToDepth(inputs.images), inputs.weight, inputs.of_y);
  EXPECT_EQ(squares.y.scalar_type(), torch::kBFloat16);
  const auto error = [](const torch::Tensor& a, const torch::Tensor& b) {
    return ((a - b).norm() / b.norm()).item<float>();
  };
  // As above: the library may also add in bfloat16.
  EXPECT_LT(error(squares.y, exact.y), 0.1F);
  EXPECT_LT(error(squares.of_weight, exact.of_weight), 0.1F);
}

// Weights of gray and of four channels, whose colors are put together.
TEST(SpaceToDepthTest, TakesWeightsOfOtherChannels) {
  const torch::Tensor images = torch::randn({2, 3, 16, 12}, torch::kDouble);
  for (const std::int64_t channels : {1, 4}) {
    torch::nn::Conv2d stem =
        MakeStem(torch::randn({8, channels, 7, 7}, torch::kDouble));
    EXPECT_TRUE(ConvolveImages(stem, SpaceToDepth(images))
                    .allclose(ConvolveImages(stem, images), 1e-12, 1e-12));
  }
}

}  // namespace
}  // namespace infeed
