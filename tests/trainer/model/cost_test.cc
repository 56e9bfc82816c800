#include "trainer/model/cost.h"

#include <cstdint>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "trainer/model/named_networks.h"

namespace infeed {
namespace {

ModelOptions ResNet(int depth) { return {.depth = depth, .num_classes = 1000}; }

TEST(CostOfTest, CountsParametersAndBuffers) {
  const ModelCost cost = ComputeCost(ResNet(50), 224);
  EXPECT_EQ(cost.parameters, 25'557'032);
  // Mean and variance of 26,560 channels, and a counter for each of 53 norms.
  EXPECT_EQ(cost.buffers, 2 * 26'560 + 53);
  EXPECT_EQ(ComputeCost({.kind = ModelKind::kLeNet, .num_classes = 10}, 28)
                .parameters,
            61'706);
}

// tests/data/make_activation_goldens.py computes the expected values: what
// autograd of PyTorch 2.15 keeps of an image for torchvision's networks.
TEST(CostOfTest, ComesCloseToWhatAutogradKeeps) {
  EXPECT_NEAR(ComputeCost(ResNet(18), 224).activations, 5554560, 0.1 * 5554560);
  EXPECT_NEAR(ComputeCost(ResNet(50), 224).activations, 21530496,
              0.1 * 21530496);
  EXPECT_NEAR(ComputeCost(ResNet(50), 64).activations, 1808256, 0.1 * 1808256);
}

// torchvision's documentation gives GFLOPS of its weights; it counts a
// multiplication and its addition as one.
TEST(CostOfTest, MultipliesAsOftenAsTorchvisionSays) {
  for (const auto& [name, multiplications, tolerance] :
       {std::tuple("resnet18", 1.814e9, 1e6),
        {"resnet34", 3.664e9, 1e6},
        {"resnet50", 4.089e9, 1e6},
        {"resnet101", 7.801e9, 1e6},
        {"resnet152", 11.514e9, 1e6},
        {"resnext50_32x4d", 4.23e9, 5e6},
        {"resnext101_32x8d", 16.414e9, 1e6},
        {"resnext101_64x4d", 15.46e9, 5e6},
        {"wide_resnet50_2", 11.398e9, 1e6},
        {"wide_resnet101_2", 22.753e9, 1e6}}) {
    EXPECT_NEAR(ComputeCost(FindNetwork(name)->shape, 224).multiplications,
                multiplications, tolerance)
        << name;
  }
}

TEST(CostOfTest, GoesByHeightAndWidth) {
  const ModelCost square = ComputeCost(ResNet(50), 64);
  const ModelCost wide = ComputeCost(ResNet(50), {64, 128});
  const ModelCost tall = ComputeCost(ResNet(50), {128, 64});
  EXPECT_EQ(wide.multiplications, tall.multiplications);
  EXPECT_EQ(wide.activations, tall.activations);
  EXPECT_EQ(wide.parameters, square.parameters);
  EXPECT_EQ(wide.widest, 2 * square.widest);
  constexpr std::int64_t kClassifier = 2048 * 1000;
  EXPECT_EQ(wide.multiplications - kClassifier,
            2 * (square.multiplications - kClassifier));
}

// Around a bottleneck's last convolution: 56 x 56 pixels of 64 channels in, of
// 256 out, and as many after the norm.
TEST(CostOfTest, FindsTheWidestConvolution) {
  EXPECT_EQ(ComputeCost(ResNet(50), 224).widest, 56 * 56 * (64 + 2 * 256));
  EXPECT_EQ(
      ComputeCost({.kind = ModelKind::kLeNet, .num_classes = 10}, 28).widest,
      28 * 28 * 13);
}

TEST(ForwardBytesTest, AddsWeightsAndTheWidestLayer) {
  const ModelCost cost = {.parameters = 100, .buffers = 10, .widest = 1000};
  EXPECT_EQ(ForwardBytes(cost, 8, false), 4 * 110 + 32'000);
  EXPECT_EQ(ForwardBytes(cost, 8, true), 4 * 110 + 16'000);
}

TEST(StepOperationsTest, ForwardPassesAreAThirdOfAStep) {
  EXPECT_EQ(StepOperations({.multiplications = 100}, 8), 3 * 2 * 100 * 8);
  EXPECT_EQ(ForwardOperations({.multiplications = 100}, 8), 2 * 100 * 8);
}

TEST(ForwardTrafficTest, CountsActivationsTwiceAndWeightsOnce) {
  const ModelCost cost = {.parameters = 100, .activations = 1000};
  EXPECT_EQ(ForwardTraffic(cost, 8, true), 2 * 1000 * 8 * 2 + 100 * 4);
  EXPECT_EQ(ForwardTraffic(cost, 8, false), 2 * 1000 * 8 * 4 + 100 * 4);
}

TEST(StepBytesTest, CountsActivationsAndWeights) {
  const ModelCost cost = {.parameters = 100, .activations = 1000};
  EXPECT_EQ(StepBytes(cost, {}, 8, true), 5 * 1000 * 8 * 2 + 7 * 100 * 4);
  EXPECT_EQ(StepBytes(cost, {}, 8, false), 5 * 1000 * 8 * 4 + 7 * 100 * 4);
}

TEST(TrainingBytesTest, AddsStateAndActivations) {
  const ModelCost cost = {
      .parameters = 100, .buffers = 10, .activations = 1000};
  EXPECT_EQ(TrainingBytes(cost, {}, 8, false), 4 * (100 * 3 + 10) + 32'000);
  EXPECT_EQ(TrainingBytes(cost, {}, 8, true), 4 * (100 * 3 + 10) + 16'000);
  const OptimizerOptions adam = {.kind = OptimizerKind::kAdamW,
                                 .learning_rate = {},
                                 .moving_average_decay = 0.9,
                                 .accumulation_steps = 4};
  EXPECT_EQ(TrainingBytes(cost, adam, 8, false), 4 * (100 * 5 + 10) + 8'000);
}

TEST(CheckpointBytesTest, CountsTheOptimizersStateAndNoGradients) {
  const ModelCost cost = {
      .parameters = 100, .buffers = 10, .activations = 1000};
  for (const auto& [kind, slots] : {std::pair(OptimizerKind::kMomentum, 1),
                                    {OptimizerKind::kLars, 1},
                                    {OptimizerKind::kAdam, 2},
                                    {OptimizerKind::kNAdamW, 2},
                                    {OptimizerKind::kLamb, 2},
                                    {OptimizerKind::kRmsProp, 2}}) {
    EXPECT_EQ(CheckpointBytes(cost, {.kind = kind}),
              4 * (100 * (1 + slots) + 10));
  }
}

}  // namespace
}  // namespace infeed
