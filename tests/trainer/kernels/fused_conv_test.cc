// Convolutions fused with the norms around them, by a stand-in of cuDNN.
#include "trainer/kernels/fused_conv.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/cudnn_on_cpu.h"
#include "tests/support/image_bits.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr FusedConv kConv = {.type = ImageType::kFloat32,
                             .images = 2,
                             .height = 4,
                             .width = 5,
                             .channels = 3,
                             .outputs = 2,
                             .kernel = 3,
                             .stride = 2,
                             .padding = 1};

class FusedConvTest : public testing::Test {
 protected:
  void SetUp() override { ResetCudnn(); }
  void TearDown() override {
    EXPECT_EQ(LiveCudnnDescriptors(), 0);
    ResetCudnn();
  }

  static std::vector<FusedConvPlan> Find(bool deterministic = false,
                                         std::size_t most = 9) {
    return FusedConvPlan::Find(kConv, deterministic, most, nullptr);
  }

  // Launches a plan over numbers that are the same in each run.
  void Launch(const FusedConvPlan& plan) {
    plan.Launch({.x = x_.data(),
                 .weight = weight_.data(),
                 .y = y_.data(),
                 .sum = sum_.data(),
                 .squares = squares_.data(),
                 .workspace = workspace_.data()},
                nullptr);
  }

  // Engines of the plans, in their order.
  std::vector<int> EnginesOf(const std::vector<FusedConvPlan>& plans) {
    for (const FusedConvPlan& plan : plans) {
      Launch(plan);
    }
    return CallsOfCudnn().executed;
  }

  static std::vector<float> Numbers(std::size_t count, int step) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<float>((static_cast<int>(i) * step) % 7 - 3);
    }
    return numbers;
  }

  std::vector<float> x_ = Numbers(std::size_t{2} * 4 * 5 * 3, 3);
  std::vector<float> weight_ = Numbers(std::size_t{2} * 3 * 3 * 3, 5);
  std::vector<float> y_ = std::vector<float>(std::size_t{2} * 2 * 3 * 2);
  std::vector<float> sum_ = std::vector<float>(2);
  std::vector<float> squares_ = std::vector<float>(2);
  std::vector<std::byte> workspace_ = std::vector<std::byte>(32);
};

TEST_F(FusedConvTest, TheGraphIsAConvolutionAndTheSumsOfItsResult) {
  EXPECT_EQ(kConv.out_height(), 2);
  EXPECT_EQ(kConv.out_width(), 3);
  const std::vector<FusedConvPlan> plans = Find();
  const std::map<std::string, int> expected = {
      {"tensor", 5}, {"convolution", 1}, {"forward", 1}, {"sums", 1},
      {"graph", 1},  {"heuristics", 2},  {"plan", 4}};
  EXPECT_EQ(CallsOfCudnn().descriptors, expected);
}

TEST_F(FusedConvTest, ALaunchGivesTheConvolutionAndItsSums) {
  const std::vector<FusedConvPlan> plans = Find();
  ASSERT_EQ(plans.size(), 4);
  EXPECT_EQ(plans[0].workspace(), 32);
  Launch(plans[0]);
  EXPECT_THAT(CallsOfCudnn().workspaces, ElementsAre(workspace_.data()));
  // Of output channel 1 of the last image's last pixel, by hand.
  const auto at = [&](std::size_t h, std::size_t w, std::size_t c) {
    return x_[((4 + h) * 5 + w) * 3 + c];
  };
  float last = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t s = 0; s < 2; ++s) {  // A third column is padding.
      for (std::size_t c = 0; c < 3; ++c) {
        last += at(1 + r, 3 + s, c) * weight_[((3 + r) * 3 + s) * 3 + c];
      }
    }
  }
  EXPECT_EQ(y_.back(), last);
  std::vector<float> sums(4);
  for (std::size_t i = 0; i < y_.size(); ++i) {
    sums[i % 2] += y_[i];
    sums[2 + i % 2] += y_[i] * y_[i];
  }
  EXPECT_THAT(sum_, ElementsAre(sums[0], sums[1]));
  EXPECT_THAT(squares_, ElementsAre(sums[2], sums[3]));
}

TEST_F(FusedConvTest, PlansComeInTheOrderOfTheHeuristics) {
  EXPECT_THAT(EnginesOf(Find()), ElementsAre(0, 1, 2, 3));
  ResetCudnn();
  EXPECT_THAT(EnginesOf(Find(false, 3)), ElementsAre(0, 1, 2));
  ResetCudnn();
  CudnnSettings().rejected = {0, 2};
  EXPECT_THAT(EnginesOf(Find()), ElementsAre(1, 3));
}

TEST_F(FusedConvTest, DeterministicPlansLeaveOutEnginesThatAreNot) {
  CudnnSettings().nondeterministic = {0, 3};
  EXPECT_THAT(EnginesOf(Find(/*deterministic=*/true)), ElementsAre(1, 2));
}

TEST_F(FusedConvTest, WithoutAnEngineThereIsNoPlan) {
  CudnnSettings().rejected = {0, 1, 2, 3};
  EXPECT_TRUE(Find().empty());
  CudnnSettings() = {.engines_of_mode = 0};
  EXPECT_TRUE(Find().empty());
}

TEST_F(FusedConvTest, ARefusedLaunchNamesTheParameterThatAvoidsIt) {
  const std::vector<FusedConvPlan> plans = Find();
  CudnnSettings().is_broken = true;
  EXPECT_THAT(MessageOf<IoError>([&] { Launch(plans[0]); }),
              HasSubstr("cuDNN refused a convolution that sums its result: not "
                        "supported; conv_statistics=pass"));
}

// ---- With the norm before it, in float16 ----

// Numbers of float16 on a device, that are known here as well.
class Halves {
 public:
  // Multiples of 1 / divisor, the same in each run.
  Halves(std::int64_t count, int step, float divisor)
      : bits_(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      bits_[i] = ToFloat16(
          static_cast<float>(static_cast<int>(i) * step % 13 - 6) / divisor);
    }
  }
  [[nodiscard]] Float16* data() { return bits_.data(); }
  [[nodiscard]] std::size_t size() const { return bits_.size(); }
  [[nodiscard]] float operator[](std::size_t i) const {
    return ToFloat(bits_[i]);
  }

 private:
  std::vector<Float16> bits_;
};

class NormedConvTest : public FusedConvTest {
 protected:
  static constexpr std::size_t kChannels = 8;
  static constexpr std::size_t kOutputs = 16;

  static FusedConv Of(ConvFusion fusion) {
    return {.fusion = fusion,
            .type = ImageType::kFloat16,
            .images = 2,
            .height = 5,
            .width = 4,
            .channels = kChannels,
            .outputs = kOutputs,
            .kernel = 3,
            .stride = 2,
            .padding = 1};
  }
  static std::vector<FusedConvPlan> FindOf(const FusedConv& conv) {
    return FusedConvPlan::Find(conv, /*deterministic=*/true, 9, nullptr);
  }

  // relu(norm(x)).
  [[nodiscard]] float NormedAt(std::size_t i) const {
    return std::max(0.0F, x_[i] * folded_[i % kChannels] +
                              folded_[kChannels + i % kChannels]);
  }

  // Calls use(y, x, weight) for the places of each product.
  template <typename Use>
  static void ForEachProduct(const Use& use) {
    for (int at = 0; at < 2 * 3 * 2; ++at) {
      for (int tap = 0; tap < 9; ++tap) {
        const int row = at / 2 % 3 * 2 + tap / 3 - 1;
        const int column = at % 2 * 2 + tap % 3 - 1;
        if (row < 0 || row >= 5 || column < 0 || column >= 4) {
          continue;  // padding, which the norm does not change
        }
        const int pixel = (at / 6 * 5 + row) * 4 + column;
        for (std::size_t i = 0; i < kOutputs * kChannels; ++i) {
          const std::size_t k = i / kChannels;
          const std::size_t c = i % kChannels;
          use(static_cast<std::size_t>(at) * kOutputs + k,
              static_cast<std::size_t>(pixel) * kChannels + c,
              (k * 9 + static_cast<std::size_t>(tap)) * kChannels + c);
        }
      }
    }
  }

  static void ExpectNear(float found, double expected) {
    EXPECT_NEAR(found, expected, 1e-3 * (1 + std::abs(expected)));
  }

  Halves x_{2 * 5 * 4 * kChannels, 5, 4};
  Halves weight_{kOutputs * 9 * kChannels, 7, 16};
  Halves folded_{2 * kChannels, 3, 8};
  Halves y_{2 * 3 * 2 * kOutputs, 1, 1};
  Halves y_gradient_{2 * 3 * 2 * kOutputs, 11, 8};
  std::vector<std::byte> workspace_ = std::vector<std::byte>(32);
};

TEST_F(NormedConvTest, ItReadsNormalizedImagesAndSumsItsResult) {
  const auto plans = FindOf(Of(ConvFusion::kNormed));
  ASSERT_EQ(plans.size(), 4);
  std::vector<float> sum(kOutputs);
  std::vector<float> squares(kOutputs);
  plans[0].Launch({.x = x_.data(),
                   .weight = weight_.data(),
                   .y = y_.data(),
                   .sum = sum.data(),
                   .squares = squares.data(),
                   .folded = folded_.data(),
                   .workspace = workspace_.data()},
                  nullptr);
  std::vector<double> expected(y_.size());
  ForEachProduct([&](std::size_t y, std::size_t x, std::size_t weight) {
    expected[y] += NormedAt(x) * weight_[weight];
  });
  std::vector<double> sums(kOutputs);
  std::vector<double> sums_of_squares(kOutputs);
  for (std::size_t i = 0; i < y_.size(); ++i) {
    ExpectNear(y_[i], expected[i]);
    sums[i % kOutputs] += y_[i];
    sums_of_squares[i % kOutputs] += std::pow(y_[i], 2);
  }
  for (std::size_t k = 0; k < kOutputs; ++k) {
    ExpectNear(sum[k], sums[k]);
    ExpectNear(squares[k], sums_of_squares[k]);
  }
}

TEST_F(NormedConvTest, TheWeightsGradientIsThatOfNormalizedImages) {
  const auto plans = FindOf(Of(ConvFusion::kWeightGradient));
  ASSERT_EQ(plans.size(), 4);
  Halves found(static_cast<std::int64_t>(weight_.size()), 1, 1);
  plans[0].Launch({.x = x_.data(),
                   .folded = folded_.data(),
                   .y_gradient = y_gradient_.data(),
                   .weight_gradient = found.data(),
                   .workspace = workspace_.data()},
                  nullptr);
  std::vector<double> expected(found.size());
  ForEachProduct([&](std::size_t y, std::size_t x, std::size_t weight) {
    expected[weight] += y_gradient_[y] * NormedAt(x);
  });
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ExpectNear(found[i], expected[i]);
  }
}

TEST_F(NormedConvTest, TheInputsGradientIsMaskedAndSummedForTheNorm) {
  const auto plans = FindOf(Of(ConvFusion::kInputGradient));
  ASSERT_EQ(plans.size(), 4);
  std::vector<float> mean(kChannels);
  std::vector<float> inverse_std(kChannels);
  std::vector<float> weight(kChannels);
  std::vector<float> bias(kChannels);
  for (std::size_t c = 0; c < kChannels; ++c) {
    mean[c] = static_cast<float>(c) / 8 - 0.3F;
    inverse_std[c] = 1 + static_cast<float>(c) / 4;
    weight[c] = 1.5F - static_cast<float>(c) / 2;
    bias[c] = 0.1F * static_cast<float>(c) - 0.35F;
  }
  Halves found(static_cast<std::int64_t>(x_.size()), 1, 1);
  std::vector<float> of_weight(kChannels);
  std::vector<float> of_bias(kChannels);
  std::vector<float> factors(3 * kChannels);
  plans[0].Launch({.x = x_.data(),
                   .weight = weight_.data(),
                   .y_gradient = y_gradient_.data(),
                   .mean = mean.data(),
                   .inverse_std = inverse_std.data(),
                   .norm_weight = weight.data(),
                   .norm_bias = bias.data(),
                   .norm_gradient = found.data(),
                   .norm_weight_gradient = of_weight.data(),
                   .norm_bias_gradient = of_bias.data(),
                   .factors = factors.data(),
                   .workspace = workspace_.data()},
                  nullptr);
  std::vector<double> expected(found.size());
  ForEachProduct([&](std::size_t y, std::size_t x, std::size_t by) {
    expected[x] += y_gradient_[y] * weight_[by];
  });
  std::vector<double> sums(kChannels);
  std::vector<double> products(kChannels);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t c = i % kChannels;
    const float centred = (x_[i] - mean[c]) * inverse_std[c];
    ExpectNear(found[i], centred * weight[c] + bias[c] > 0 ? expected[i] : 0);
    sums[c] += found[i];
    products[c] += found[i] * centred;
  }
  for (std::size_t c = 0; c < kChannels; ++c) {
    ExpectNear(of_bias[c], sums[c]);
    ExpectNear(of_weight[c], products[c]);
  }
}

TEST_F(NormedConvTest, OtherTypesHaveNoEngine) {
  for (const ConvFusion fusion :
       {ConvFusion::kNormed, ConvFusion::kWeightGradient,
        ConvFusion::kInputGradient}) {
    FusedConv conv = Of(fusion);
    EXPECT_FALSE(FindOf(conv).empty());
    conv.type = ImageType::kBfloat16;
    EXPECT_TRUE(FindOf(conv).empty());
  }
}

TEST_F(NormedConvTest, RefusedLaunchesNameTheConvolution) {
  std::vector<float> factors(3 * kChannels);
  for (const auto& [fusion, name] :
       {std::pair(ConvFusion::kNormed,
                  "refused a convolution that normalizes what it reads: not"),
        std::pair(ConvFusion::kWeightGradient,
                  "refused the weights' gradient of a convolution that "
                  "normalizes what it reads: not"),
        std::pair(ConvFusion::kInputGradient,
                  "refused the input's gradient of a convolution that "
                  "normalizes what it reads: not")}) {
    const auto plans = FindOf(Of(fusion));
    CudnnSettings().is_broken = true;
    EXPECT_THAT(MessageOf<IoError>([&] {
                  plans.at(0).Launch(
                      {.folded = folded_.data(), .factors = factors.data()},
                      nullptr);
                }),
                HasSubstr(name));
    ResetCudnn();
  }
}

}  // namespace
}  // namespace infeed
