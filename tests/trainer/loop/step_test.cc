#include "trainer/loop/step.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "base/error.h"
#include "tests/support/made_batches.h"
#include "tests/support/matchers.h"
#include "tests/support/train_steps.h"
#include "tests/trainer/loop/linear_layer.h"
#include "trainer/loop/device_loop.h"
#include "trainer/loop/passes.h"

namespace infeed::step_test {

constexpr int kBatch = 8;
constexpr int kSide = LinearLayer::kSide;
constexpr int kClasses = LinearLayer::kClasses;

// One linear layer, and a moving mean of its inputs.
struct LinearModel : LinearLayer {
  torch::Tensor mean = torch::zeros({kInputs});
  std::vector<std::int64_t> steps = {};
  std::vector<std::int64_t> part_sizes = {};

  TrainedModel Trained() {
    return {.begin_step = [this](std::int64_t step) { steps.push_back(step); },
            .forward =
                [this](const torch::Tensor& images) {
                  part_sizes.push_back(images.size(0));
                  mean.lerp_(images.flatten(1).mean(0), 0.1);
                  return Logits(images);
                },
            .parameters = {{.name = "fc.weight", .weight = weight},
                           {.name = "fc.bias", .weight = bias}},
            .statistics = {{"mean", mean}}};
  }
  [[nodiscard]] NamedTensors Tensors() const {
    return {{"fc.weight", weight}, {"fc.bias", bias}, {"mean", mean}};
  }
};

OptimizerOptions Options(OptimizerKind kind = OptimizerKind::kMomentum) {
  return {.kind = kind,
          .learning_rate = {.base_learning_rate = 0.1,
                            .scaled_by_batch = false,
                            .schedule = RateSchedule::kConstant,
                            .warmup_epochs = 0},
          .loss = {.label_smoothing = 0.1}};
}

// Two slots of each batch do not count. done: how many steps run.
std::vector<StepResult> Train(TrainStep& step, std::int64_t first,
                              std::int64_t steps, std::int64_t done) {
  std::vector<StepResult> results;
  Infeed infeed(MadeBatches(steps, kBatch, kSide,
                            [=](Batch& batch, std::int64_t number) {
                              FillWithColours(batch, first + number, kClasses);
                              batch.BlankSlot(1);
                              batch.BlankSlot(6);
                            }),
                kBatch, kSide);
  Outfeed outfeed([&](const StepResult& result) { results.push_back(result); });
  const BatchUnpacker unpacker(torch::kCPU, Normalization::kImagenet);
  EXPECT_EQ(TrainEagerly(step, first, steps, unpacker, infeed, outfeed), done);
  outfeed.Drain();
  return results;
}

std::vector<StepResult> Train(TrainStep& step, std::int64_t first,
                              std::int64_t steps) {
  return Train(step, first, steps, steps);
}

TrainStep StepOf(LinearModel& model, const OptimizerOptions& options) {
  return {model.Trained(), options, kClasses, torch::kCPU};
}

void ExpectSame(const LinearModel& a, const LinearModel& b) {
  EXPECT_TRUE(ToHost(a.Tensors()) == ToHost(b.Tensors()));
}

// Trains three steps on whole batches and on batches in three parts; returns
// the sizes of the parts.
std::vector<std::int64_t> ExpectPartsGiveTheWhole(OptimizerOptions options) {
  LinearModel whole;
  LinearModel parted;
  TrainStep whole_step = StepOf(whole, options);
  options.accumulation_steps = 3;
  TrainStep parted_step = StepOf(parted, options);
  const std::vector<StepResult> expected = Train(whole_step, 0, 3);
  const std::vector<StepResult> results = Train(parted_step, 0, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(results[i].loss, expected[i].loss, 1e-5);
    EXPECT_NEAR(results[i].top_1, expected[i].top_1, 1e-6);
  }
  EXPECT_TRUE(parted.weight.allclose(whole.weight, 1e-4, 1e-6));
  EXPECT_TRUE(parted.bias.allclose(whole.bias, 1e-4, 1e-6));
  return {parted.part_sizes.begin(), parted.part_sizes.begin() + 3};
}

// The mean is over the weights of the whole batch's images.
TEST(TrainLoopTest, PartsOfABatchGiveTheGradientsOfTheWhole) {
  for (const std::vector<double>& weights :
       {std::vector<double>(), {0, 2, 0.5, 1}}) {
    OptimizerOptions options = Options();
    options.loss.class_weights = weights;
    EXPECT_THAT(ExpectPartsGiveTheWhole(options), ElementsAre(2, 3, 3));
  }
}

TEST(TrainLoopTest, WeightsThatAreAllZeroChangeNothing) {
  LinearModel model;
  OptimizerOptions options = Options();
  options.weight_decay = 0;
  options.loss.class_weights = std::vector<double>(kClasses, 0.0);
  TrainStep step = StepOf(model, options);
  const torch::Tensor before = model.weight.detach().clone();
  EXPECT_EQ(Train(step, 0, 1)[0].loss, 0);
  EXPECT_TRUE(model.weight.equal(before));
}

TEST(TrainLoopTest, HasNoMorePartsThanImages) {
  LinearModel model;
  OptimizerOptions options = Options();
  options.accumulation_steps = 100;
  TrainStep step = StepOf(model, options);
  Train(step, 5, 1);
  EXPECT_EQ(model.part_sizes, std::vector<std::int64_t>(kBatch, 1));
  Train(step, 6, 1);
  EXPECT_THAT(model.steps, ElementsAre(5, 6));
}

// The second part of the batch does not get through the model.
TEST(TrainStepTest, RunsAgainAfterAPassThatThrew) {
  LinearModel torn;
  LinearModel whole;
  OptimizerOptions options = Options();
  options.accumulation_steps = 2;
  TrainedModel model = torn.Trained();
  bool is_torn = true;
  model.forward = [&, forward = model.forward](const torch::Tensor& images) {
    if (is_torn && torn.part_sizes.size() == 1) {
      throw IoError("rejected");
    }
    return forward(images);
  };
  TrainStep step(model, options, kClasses, torch::kCPU);
  EXPECT_THROW(Train(step, 0, 1), IoError);
  EXPECT_TRUE(torn.weight.grad().defined());
  is_torn = false;
  step.Forget();
  torn.mean.zero_();
  Train(step, 0, 1);
  TrainStep whole_step = StepOf(whole, options);
  Train(whole_step, 0, 1);
  ExpectSame(torn, whole);
}

TEST(TrainLoopTest, ClipsTheGradient) {
  LinearModel model;
  OptimizerOptions options = Options();
  options.momentum = 0;
  options.nesterov = false;
  options.weight_decay = 0;
  options.clip_gradient_norm = 0.01;
  TrainStep step = StepOf(model, options);
  const torch::Tensor weight = model.weight.detach().clone();
  Train(step, 0, 1);
  const double length = torch::cat({(model.weight.detach() - weight).flatten(),
                                    model.bias.detach()})
                            .norm()
                            .item<double>();
  EXPECT_NEAR(length, 0.1 * 0.01, 1e-6);
}

TEST(TrainLoopTest, EndsWithTheFirstLossThatIsNotFinite) {
  LinearModel expected;
  TrainStep one_step = StepOf(expected, Options());
  Train(one_step, 0, 1);

  LinearModel model;
  TrainedModel trained = model.Trained();
  trained.begin_step = [&](std::int64_t step) {
    if (step == 1) {
      const torch::NoGradGuard no_grad;
      model.weight[2][5] = std::numeric_limits<float>::quiet_NaN();
    }
  };
  TrainStep step(trained, Options(), kClasses, torch::kCPU);
  EXPECT_TRUE(step.RefusedGradients().empty());
  const std::vector<StepResult> results = Train(step, 0, 5, 2);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(std::isnan(results[1].loss));
  // It updates nothing, so that its gradients and what caused them are there.
  EXPECT_TRUE(model.bias.equal(expected.bias));
  EXPECT_EQ(FindNonFiniteTensors("", model.Tensors()),
            std::vector({NonFiniteTensor{"", "fc.weight", 1, 192}}));
  EXPECT_EQ(FindNonFiniteTensors("", step.RefusedGradients()),
            std::vector({NonFiniteTensor{"", "fc.bias", 4, 4},
                         NonFiniteTensor{"", "fc.weight", 192, 192}}));
  EXPECT_EQ(step.RefusedImages().size(), 1U);
}

TEST(TrainLoopTest, MixingChangesTheLossAndNothingElseDoes) {
  std::vector<float> losses;
  for (const double alpha : {0.0, 1.0, 1.0}) {
    LinearModel model;
    OptimizerOptions options = Options();
    options.mixup_alpha = alpha;
    TrainStep step = StepOf(model, options);
    losses.push_back(Train(step, 0, 2).back().loss);
  }
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_EQ(losses[1], losses[2]);
}

// min(0.25, (1 + n) / (10 + n)) of n updates: 2/11, 3/12, then 0.25.
TEST(TrainLoopTest, AveragesAreTheirRecurrence) {
  for (const auto& [every, decays] :
       {std::pair(1, std::vector<double>{2.0 / 11, 0.25, 0.25}),
        {3, std::vector<double>{1, 1, 2.0 / 11, 1, 1, 0.25}}}) {
    LinearModel model;
    OptimizerOptions options = Options();
    options.moving_average_decay = 0.25;
    options.moving_average_every = every;
    TrainStep step = StepOf(model, options);
    torch::Tensor weight = model.weight.detach().to(torch::kDouble);
    torch::Tensor mean = model.mean.to(torch::kDouble);
    for (const double decay : decays) {
      Train(step, static_cast<std::int64_t>(model.steps.size()), 1);
      weight = decay * weight + (1 - decay) * model.weight.detach();
      mean = decay * mean + (1 - decay) * model.mean;
    }
    const torch::Tensor live = model.weight.detach().clone();
    {
      const MovingAverage::Scope scope = step.UseAverages();
      EXPECT_TRUE(model.weight.to(torch::kDouble).allclose(weight, 1e-5));
      EXPECT_TRUE(model.mean.to(torch::kDouble).allclose(mean, 1e-5));
    }
    EXPECT_TRUE(model.weight.equal(live));
  }
}

std::vector<double> SharesOf(const OptimizerOptions& options,
                             std::int64_t steps) {
  std::vector<double> shares;
  for (std::int64_t step = 0; step < steps; ++step) {
    shares.push_back(MovingAverageShare(step, options));
  }
  return shares;
}

// torchvision's: a copy at each update of the warm-up, and at the next one.
TEST(MovingAverageShareTest, FollowsTheWeightsDuringTheWarmUp) {
  const OptimizerOptions options = {
      .learning_rate = {.warmup_epochs = 1,
                        .batch_size = 1,
                        .train_images = 7,
                        .train_steps = 100},
      .moving_average_decay = 0.75,
      .moving_average_every = 3,
      .moving_average_warmup = AverageWarmup::kFollow};
  EXPECT_EQ(
      SharesOf(options, 15),
      (std::vector<double>{0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0.25, 0, 0, 0.25}));
}

// timm's.
TEST(MovingAverageShareTest, TheShareIsConstantWithoutWarmUp) {
  const OptimizerOptions options = {
      .moving_average_decay = 0.75,
      .moving_average_every = 2,
      .moving_average_warmup = AverageWarmup::kNone};
  EXPECT_EQ(SharesOf(options, 4), (std::vector<double>{0, 0.25, 0, 0.25}));
}

struct Resumed {
  std::string name;
  std::function<void(OptimizerOptions&)> change;
};

class TrainLoopResumeTest : public testing::TestWithParam<Resumed> {};

TEST_P(TrainLoopResumeTest, GoesOnAsIfNeverStopped) {
  OptimizerOptions options = Options();
  GetParam().change(options);
  LinearModel whole;
  TrainStep whole_step = StepOf(whole, options);
  const std::vector<StepResult> uninterrupted = Train(whole_step, 0, 5);

  LinearModel before;
  TrainStep before_step = StepOf(before, options);
  Train(before_step, 0, 2);
  LinearModel after;
  TrainStep after_step = StepOf(after, options);
  FromHost(after.Tensors(), ToHost(before.Tensors()));
  FromHost(after_step.State(), ToHost(before_step.State()));
  const std::vector<StepResult> resumed = Train(after_step, 2, 3);

  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(resumed[i].loss, uninterrupted[i + 2].loss);
    EXPECT_EQ(resumed[i].top_1, uninterrupted[i + 2].top_1);
  }
  ExpectSame(after, whole);
  EXPECT_TRUE(ToHost(after_step.State()) == ToHost(whole_step.State()));
}

std::vector<Resumed> ResumedTrainings() {
  std::vector<Resumed> cases = {
      {"LambAndBce",
       [](OptimizerOptions& o) {
         o.kind = OptimizerKind::kLamb;
         o.loss.kind = LossKind::kBce;
       }},
      {"Average", [](OptimizerOptions& o) { o.moving_average_decay = 0.9; }},
      {"AverageEveryThird",
       [](OptimizerOptions& o) {
         o.moving_average_decay = 0.9;
         o.moving_average_every = 3;
       }},
      {"Mixed",
       [](OptimizerOptions& o) {
         o.mixup_alpha = 0.2;
         o.cutmix_alpha = 1;
       }},
      {"PartsAndClipping", [](OptimizerOptions& o) {
         o.accumulation_steps = 3;
         o.clip_gradient_norm = 0.1;
       }}};
  for (const auto& [name, kind] : kOptimizers) {
    cases.push_back({std::string(name),
                     [kind = kind](OptimizerOptions& o) { o.kind = kind; }});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Options, TrainLoopResumeTest,
                         testing::ValuesIn(ResumedTrainings()),
                         [](const auto& resumed) {
                           return resumed.param.name;
                         });

// --- The whole device loop.

const DeviceOptions kCpu = {.device = "cpu", .threads = 2};
const ModelOptions kResNet = {.depth = 18, .num_classes = 2};

TEST(DeviceLoopAverageTest, EvaluationsAndExportsUseTheAverage) {
  OptimizerOptions options = Options();
  options.moving_average_decay = 0.9;
  const auto loop = MakeDeviceLoop(kResNet, options, kCpu);
  const TensorMap start = loop->Save().model;
  EXPECT_TRUE(loop->SaveForUse() == start);
  ModelState other = loop->Save();
  other.optimizer.at("fc.weight/average").bytes[0] = std::byte{7};
  loop->Load(other);
  EXPECT_TRUE(loop->Save().model == start);
  EXPECT_FALSE(loop->SaveForUse() == start);
  EXPECT_EQ(loop->Save().optimizer.count("bn1.running_mean/average"), 1U);
  // It begins at the weights that the loop starts from.
  TensorMap weights = start;
  weights.at("fc.weight").bytes[0] = std::byte{7};
  loop->LoadWeights(weights);
  EXPECT_TRUE(loop->SaveForUse() == weights);
}

TEST(DeviceLoopNonFiniteTest, NamesTheTensors) {
  const auto loop = MakeDeviceLoop(
      {.kind = ModelKind::kLeNet, .num_classes = kClasses}, Options(), kCpu);
  EXPECT_THAT(loop->FindNonFinite(), IsEmpty());
  ModelState state = loop->Save();
  std::vector<std::byte>& weight = state.model.at("fc1.weight").bytes;
  std::fill_n(weight.begin(), 2 * sizeof(float), std::byte{0xFF});
  loop->Load(state);
  EXPECT_EQ(loop->FindNonFinite(),
            std::vector({NonFiniteTensor{"weights", "fc1.weight", 2, 48000}}));
  Infeed infeed(ColourBatches(1, kBatch, 28, kClasses), kBatch, 28);
  EXPECT_TRUE(std::isnan(TrainSteps(*loop, 0, 1, infeed).at(0).loss));
  EXPECT_THAT(
      NonFiniteText(loop->FindNonFinite()),
      AllOf(StartsWith("weights fc1.weight (2 of 48000 values); "
                       "gradients fc3.bias (4 of 4 values), fc3.weight"),
            EndsWith(" more")));
}

TEST(DeviceLoopFrozenTest, KeepsNothingForFrozenParameters) {
  ModelOptions model = kResNet;
  model.frozen_stages = 1;
  OptimizerOptions options = Options(OptimizerKind::kAdam);
  options.moving_average_decay = 0.9;
  const TensorMap state =
      MakeDeviceLoop(model, options, kCpu)->Save().optimizer;
  EXPECT_EQ(state.count("conv1.weight/m"), 0U);
  EXPECT_EQ(state.count("conv1.weight/average"), 0U);
  EXPECT_EQ(state.count("fc.weight/v"), 1U);
}

}  // namespace infeed::step_test
