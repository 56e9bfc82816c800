// Networks whose first convolution is on squares of 2x2 pixels: the same
// weights, and the same numbers by rounding.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "tests/support/made_batches.h"
#include "tests/support/train_steps.h"
#include "trainer/network/convolution.h"
#include "trainer/network/network.h"

#include "gtest/gtest.h"

namespace infeed::stem_layout_test {

constexpr int kClasses = 4;

ModelOptions In(StemLayout layout, ModelOptions model) {
  model.num_classes = kClasses;
  model.stem_layout = layout;
  return model;
}

// Logits of images as `view` gives them, and the gradients of all parameters.
template <typename View>
std::vector<torch::Tensor> PassOf(const ModelOptions& options, int side,
                                  const View& view) {
  const std::shared_ptr<Network> network = MakeNetwork(options);
  network->to(torch::kDouble);
  network->SetStep(0);
  torch::manual_seed(1);
  const torch::Tensor images = torch::randn({4, 3, side, side}, torch::kDouble);
  const torch::Tensor logits = network->Forward(view(images));
  logits.square().sum().backward();
  std::vector<torch::Tensor> found = {logits.detach()};
  for (const torch::Tensor& parameter : network->parameters()) {
    found.push_back(parameter.grad());
  }
  return found;
}

torch::Tensor AsTheyAre(const torch::Tensor& images) { return images; }

TEST(StemLayoutTest, ChangesNumbersByRoundingAlone) {
  for (const ModelVariant variant :
       {ModelVariant::kTorchvision, ModelVariant::kTpu}) {
    const ModelOptions model = {.variant = variant, .depth = 18};
    const ModelOptions depth = In(StemLayout::kSpaceToDepth, model);
    const auto plain = PassOf(In(StemLayout::kPlain, model), 36, AsTheyAre);
    for (const auto& found :
         {PassOf(depth, 36, AsTheyAre), PassOf(depth, 36, SpaceToDepth)}) {
      ASSERT_EQ(found.size(), plain.size());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        EXPECT_TRUE(found[i].allclose(plain[i], 1e-8, 1e-8)) << i;
      }
    }
  }
}

TEST(StemLayoutTest, IsPlainWhereASideIsOdd) {
  const ModelOptions model = {.depth = 18};
  const auto plain = PassOf(In(StemLayout::kPlain, model), 35, AsTheyAre);
  const auto depth =
      PassOf(In(StemLayout::kSpaceToDepth, model), 35, AsTheyAre);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_TRUE(depth[i].equal(plain[i])) << i;
  }
}

TEST(StemLayoutTest, IsOfA7x7ConvolutionAlone) {
  const auto uses = [](const ModelOptions& model) {
    return MakeNetwork(In(StemLayout::kSpaceToDepth, model))
        ->uses_space_to_depth();
  };
  EXPECT_TRUE(uses({.depth = 18}));
  EXPECT_FALSE(uses({.depth = 18, .small_stem = true}));
  EXPECT_FALSE(uses({.depth = 50, .resnetd_stem = true}));
  EXPECT_FALSE(uses({.kind = ModelKind::kLeNet}));
  EXPECT_FALSE(MakeNetwork({.depth = 18})->uses_space_to_depth());
}

// A training in one layout goes on in the other from its state.
TEST(StemLayoutTest, TrainsAsThePlainOneAndFromItsState) {
  constexpr int kBatch = 8;
  constexpr int kSide = 32;
  const OptimizerOptions optimizer = {
      .learning_rate = {.base_learning_rate = 0.002,
                        .scaled_by_batch = false,
                        .schedule = RateSchedule::kConstant,
                        .warmup_epochs = 0}};
  const auto make = [&](StemLayout layout) {
    return MakeDeviceLoop(In(layout, {.depth = 18}), optimizer,
                          {.device = "cpu", .threads = 2});
  };
  const auto train = [](DeviceLoop& loop, std::int64_t first) {
    Infeed infeed(ColourBatches(10, kBatch, kSide, kClasses, first), kBatch,
                  kSide);
    return TrainSteps(loop, first, 10, infeed);
  };
  const auto expect_near = [](const std::vector<StepResult>& found,
                              const std::vector<StepResult>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].loss, expected[i].loss, 1e-3) << i;
    }
  };
  const auto plain = make(StemLayout::kPlain);
  const auto depth = make(StemLayout::kSpaceToDepth);
  EXPECT_EQ(plain->Hash(), depth->Hash());
  const std::vector<StepResult> first = train(*plain, 0);
  expect_near(train(*depth, 0), first);
  const auto resumed = make(StemLayout::kSpaceToDepth);
  resumed->Load(plain->Save());
  EXPECT_EQ(plain->Hash(), resumed->Hash());
  const std::vector<StepResult> second = train(*plain, 10);
  expect_near(train(*depth, 10), second);
  expect_near(train(*resumed, 10), second);
  EXPECT_LT(second.back().loss, first.front().loss);
}

}  // namespace infeed::stem_layout_test
