// The convolution that sums its result, by a stand-in of cuDNN.
#include "trainer/kernels/summed_conv.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
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

constexpr SummedConv kConv = {.type = ImageType::kFloat32,
                              .images = 2,
                              .height = 4,
                              .width = 5,
                              .channels = 3,
                              .outputs = 2,
                              .kernel = 3,
                              .stride = 2,
                              .padding = 1};

class SummedConvTest : public testing::Test {
 protected:
  void SetUp() override { ResetCudnn(); }
  void TearDown() override {
    EXPECT_EQ(LiveCudnnDescriptors(), 0);
    ResetCudnn();
  }

  static std::vector<SummedConvPlan> Find(bool deterministic = false,
                                          std::size_t most = 9) {
    return SummedConvPlan::Find(kConv, deterministic, most, nullptr);
  }

  // Launches a plan over numbers that are the same in each run.
  void Launch(const SummedConvPlan& plan) {
    plan.Launch({.x = x_.data(),
                 .weight = weight_.data(),
                 .y = y_.data(),
                 .sum = sum_.data(),
                 .squares = squares_.data(),
                 .workspace = workspace_.data()},
                nullptr);
  }

  // Engines of the plans, in their order.
  std::vector<int> EnginesOf(const std::vector<SummedConvPlan>& plans) {
    for (const SummedConvPlan& plan : plans) {
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

TEST_F(SummedConvTest, TheGraphIsAConvolutionAndTheSumsOfItsResult) {
  EXPECT_EQ(kConv.out_height(), 2);
  EXPECT_EQ(kConv.out_width(), 3);
  const std::vector<SummedConvPlan> plans = Find();
  const std::map<std::string, int> expected = {
      {"tensor", 5}, {"convolution", 1}, {"forward", 1}, {"sums", 1},
      {"graph", 1},  {"heuristics", 2},  {"plan", 4}};
  EXPECT_EQ(CallsOfCudnn().descriptors, expected);
}

TEST_F(SummedConvTest, ALaunchGivesTheConvolutionAndItsSums) {
  const std::vector<SummedConvPlan> plans = Find();
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

TEST_F(SummedConvTest, PlansComeInTheOrderOfTheHeuristics) {
  EXPECT_THAT(EnginesOf(Find()), ElementsAre(0, 1, 2, 3));
  ResetCudnn();
  EXPECT_THAT(EnginesOf(Find(false, 3)), ElementsAre(0, 1, 2));
  ResetCudnn();
  CudnnSettings().rejected = {0, 2};
  EXPECT_THAT(EnginesOf(Find()), ElementsAre(1, 3));
}

TEST_F(SummedConvTest, DeterministicPlansLeaveOutEnginesThatAreNot) {
  CudnnSettings().nondeterministic = {0, 3};
  EXPECT_THAT(EnginesOf(Find(/*deterministic=*/true)), ElementsAre(1, 2));
}

TEST_F(SummedConvTest, WithoutAnEngineThereIsNoPlan) {
  CudnnSettings().rejected = {0, 1, 2, 3};
  EXPECT_TRUE(Find().empty());
  CudnnSettings() = {.engines_of_mode = 0};
  EXPECT_TRUE(Find().empty());
}

TEST_F(SummedConvTest, ARefusedLaunchNamesTheParameterThatAvoidsIt) {
  const std::vector<SummedConvPlan> plans = Find();
  CudnnSettings().is_broken = true;
  EXPECT_THAT(MessageOf<IoError>([&] { Launch(plans[0]); }),
              HasSubstr("not supported; conv_statistics=pass"));
}

}  // namespace
}  // namespace infeed
