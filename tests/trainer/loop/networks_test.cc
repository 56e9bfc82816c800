#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/junk_memory.h"
#include "tests/support/made_batches.h"
#include "tests/support/model_variants.h"
#include "tests/support/train_steps.h"
#include "trainer/loop/device_loop.h"

#include "gtest/gtest.h"

namespace infeed::networks_test {

constexpr int kBatch = 8;
constexpr int kClasses = 4;

std::unique_ptr<DeviceLoop> LoopWith(
    const ModelOptions& model, Precision precision = Precision::kFloat32) {
  return MakeDeviceLoop(
      model,
      {.learning_rate = {.base_learning_rate = 0.05,
                         .scaled_by_batch = false,
                         .schedule = RateSchedule::kConstant},
       .weight_decay = 0},
      {.device = "cpu", .precision = precision, .threads = 2});
}

// The losses of steps [first, first + steps) on their batches.
std::vector<float> Train(DeviceLoop& loop, int side, std::int64_t first,
                         std::int64_t steps) {
  Infeed infeed(ColourBatches(steps, kBatch, side, kClasses, first), kBatch,
                side);
  std::vector<float> losses;
  for (const StepResult& result : TrainSteps(loop, first, steps, infeed)) {
    losses.push_back(result.loss);
  }
  return losses;
}

TEST(DeviceLoopNetworksTest, FrozenStagesStayAsTheyWere) {
  const auto loop =
      LoopWith({.depth = 18, .num_classes = kClasses, .frozen_stages = 5});
  const TensorMap before = loop->Save().model;
  Train(*loop, 32, 0, 2);
  for (const auto& [name, tensor] : loop->Save().model) {
    EXPECT_EQ(tensor == before.at(name), !name.starts_with("fc.")) << name;
  }
}

// Small images have maps of one pixel, for which libraries use other kernels.
class Bfloat16NetworkTest : public testing::TestWithParam<ModelVariantCase> {};

TEST_P(Bfloat16NetworkTest, TrainsAlikeInMemoryFullOfJunk) {
  ModelOptions model = GetParam().options;
  model.num_classes = kClasses;
  const int side = GetParam().side;
  const auto clean = LoopWith(model, Precision::kBfloat16);
  const std::vector<float> losses = Train(*clean, side, 0, 2);
  const JunkMemory junk;
  const auto in_junk = LoopWith(model, Precision::kBfloat16);
  EXPECT_EQ(Train(*in_junk, side, 0, 2), losses);
  EXPECT_EQ(in_junk->Save().model, clean->Save().model);
}

std::vector<ModelVariantCase> SmallImages() {
  std::vector<ModelVariantCase> cases = ModelVariantCases();
  for (ModelVariantCase& c : cases) {
    c.side = c.options.kind == ModelKind::kLeNet ? c.side : 8;
  }
  for (const int side : {16, 20, 32}) {
    cases.push_back(
        {"torchvision18_side" + std::to_string(side), {.depth = 18}, side});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Variants, Bfloat16NetworkTest,
                         testing::ValuesIn(SmallImages()),
                         [](const auto& param_info) {
                           return param_info.param.name;
                         });

}  // namespace infeed::networks_test
