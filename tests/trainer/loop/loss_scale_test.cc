// Training steps whose loss is scaled, in float32: float16's gradients are made
// by rounding.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "tests/support/made_batches.h"
#include "tests/support/matchers.h"
#include "tests/trainer/loop/linear_layer.h"
#include "trainer/loop/passes.h"
#include "trainer/loop/step.h"

namespace infeed::loss_scale_test {

constexpr int kBatch = 8;
constexpr int kSide = LinearLayer::kSide;
constexpr int kClasses = LinearLayer::kClasses;

// Changes the gradient of a step's logits.
using Change =
    std::function<torch::Tensor(const torch::Tensor&, std::int64_t step)>;

torch::Tensor Overflow(const torch::Tensor& gradient) {
  return gradient * std::numeric_limits<float>::infinity();
}

torch::Tensor InFloat16(const torch::Tensor& gradient) {
  return gradient.to(torch::kHalf).to(torch::kFloat);
}

// A layer, and a change of its gradient.
struct ChangedLayer : LinearLayer {
  std::int64_t step = 0;

  TrainedModel Trained(Change change) {
    return {.begin_step = [this](std::int64_t number) { step = number; },
            .forward =
                [this, change](const torch::Tensor& images) {
                  torch::Tensor logits = Logits(images);
                  if (change) {
                    logits.register_hook(
                        [this, change](const torch::Tensor& gradient) {
                          return change(gradient, step);
                        });
                  }
                  return logits;
                },
            .parameters = {{.name = "weight", .weight = weight},
                           {.name = "bias", .weight = bias}},
            .statistics = {}};
  }
};

OptimizerOptions Options(const std::optional<LossScaleOptions>& scale,
                         OptimizerKind kind = OptimizerKind::kMomentum) {
  return {.kind = kind,
          .learning_rate = {.base_learning_rate = 0.1,
                            .scaled_by_batch = false,
                            .schedule = RateSchedule::kConstant,
                            .warmup_epochs = 0},
          .loss_scale = scale};
}

// A layer in training.
class LayerRun {
 public:
  explicit LayerRun(const OptimizerOptions& options, Change change = {})
      : step_(layer_.Trained(std::move(change)), options, kClasses,
              torch::kCPU) {}

  // Steps [first, first + steps) on their batches.
  std::vector<StepResult> Train(std::int64_t first, std::int64_t steps) {
    std::vector<StepResult> results;
    Infeed infeed(MadeBatches(steps, kBatch, kSide,
                              [=](Batch& batch, std::int64_t number) {
                                FillWithColours(batch, first + number,
                                                kClasses);
                              }),
                  kBatch, kSide);
    Outfeed outfeed(
        [&](const StepResult& result) { results.push_back(result); });
    const BatchUnpacker unpacker(torch::kCPU, Normalization::kImagenet);
    EXPECT_EQ(TrainEagerly(step_, first, steps, unpacker, infeed, outfeed),
              steps);
    outfeed.Drain();
    return results;
  }

  [[nodiscard]] NamedTensors Tensors() const {
    NamedTensors tensors = step_.State();
    tensors.emplace_back("layer weight", layer_.weight);
    tensors.emplace_back("layer bias", layer_.bias);
    return tensors;
  }
  [[nodiscard]] TensorMap Saved() const { return ToHost(Tensors()); }

 private:
  ChangedLayer layer_;
  TrainStep step_;
};

std::vector<float> Losses(const std::vector<StepResult>& results) {
  std::vector<float> losses;
  for (const StepResult& result : results) {
    losses.push_back(result.loss);
  }
  return losses;
}

// The scale and the skipped steps after each step.
std::vector<std::pair<float, std::int64_t>> Scales(
    const std::vector<StepResult>& results) {
  std::vector<std::pair<float, std::int64_t>> scales;
  for (const StepResult& result : results) {
    scales.emplace_back(result.loss_scale, result.skipped_steps);
  }
  return scales;
}

TensorMap WithoutScale(TensorMap state) {
  std::erase_if(state, [](const auto& entry) {
    return entry.first.starts_with(kLossScalePrefix);
  });
  return state;
}

TEST(LossScaleTest, APowerOfTwoChangesNoBit) {
  for (const auto& [name, kind] : kOptimizers) {
    for (const bool is_clipped : {false, true}) {
      OptimizerOptions options = Options(std::nullopt, kind);
      options.accumulation_steps = is_clipped ? 3 : 1;
      options.clip_gradient_norm = is_clipped ? 0.1 : 0;
      options.moving_average_decay = 0.9;
      LayerRun plain(options);
      options.loss_scale = LossScaleOptions{.growth_interval = 2};
      LayerRun scaled(options);
      const std::vector<StepResult> results = scaled.Train(0, 5);
      EXPECT_EQ(Losses(results), Losses(plain.Train(0, 5))) << name;
      EXPECT_EQ(results.back().loss_scale, 4 * 65536);
      EXPECT_TRUE(WithoutScale(scaled.Saved()) == plain.Saved()) << name;
    }
  }
}

// The step of the optimizer does not count, that of the schedule and of the
// data does: the next step is the one after.
TEST(LossScaleTest, SkipsAStepThatOverflowsAndHalvesTheScale) {
  LayerRun run(Options(LossScaleOptions{.scale = 1024, .growth_interval = 100},
                       OptimizerKind::kAdam),
               [](const torch::Tensor& gradient, std::int64_t step) {
                 return step == 1 ? Overflow(gradient) : gradient;
               });
  run.Train(0, 1);
  const TensorMap before = run.Saved();
  const StepResult skipped = run.Train(1, 1).back();
  EXPECT_TRUE(std::isfinite(skipped.loss));
  EXPECT_EQ(skipped.step, 2);
  EXPECT_EQ(skipped.loss_scale, 512);
  EXPECT_EQ(skipped.skipped_steps, 1);
  EXPECT_TRUE(WithoutScale(run.Saved()) == WithoutScale(before));
  const StepResult next = run.Train(2, 1).back();
  EXPECT_EQ(next.loss_scale, 512);
  EXPECT_EQ(next.skipped_steps, 1);
  EXPECT_FALSE(WithoutScale(run.Saved()) == WithoutScale(before));
  EXPECT_EQ(run.Saved().at("step").bytes[0], std::byte{2});
}

TEST(LossScaleTest, ResumesInTheMiddleOfAnInterval) {
  const OptimizerOptions options =
      Options(LossScaleOptions{.scale = 1024, .growth_interval = 4});
  const auto change = [](const torch::Tensor& gradient, std::int64_t step) {
    return step == 0 ? Overflow(gradient) : gradient;
  };
  LayerRun whole(options, change);
  const std::vector<StepResult> expected = whole.Train(0, 7);
  EXPECT_THAT(
      Scales(expected),
      ElementsAre(Pair(512, 1), Pair(512, 1), Pair(512, 1), Pair(512, 1),
                  Pair(1024, 1), Pair(1024, 1), Pair(1024, 1)));
  LayerRun before(options, change);
  before.Train(0, 3);
  LayerRun after(options, change);
  FromHost(after.Tensors(), before.Saved());
  const std::vector<StepResult> resumed = after.Train(3, 4);
  for (std::size_t i = 0; i < resumed.size(); ++i) {
    EXPECT_EQ(resumed[i].loss, expected[i + 3].loss);
    EXPECT_EQ(Scales(resumed)[i], Scales(expected)[i + 3]);
  }
  EXPECT_TRUE(after.Saved() == whole.Saved());
}

// The gradients of the first steps are too large for float16, as long as the
// scale is.
TEST(LossScaleTest, FindsAScaleThatFloat16Holds) {
  LayerRun run(Options(LossScaleOptions{.scale = 0x1p24}),
               [](const torch::Tensor& gradient, std::int64_t /*step*/) {
                 return InFloat16(gradient);
               });
  const std::vector<StepResult> results = run.Train(0, 20);
  const StepResult& last = results.back();
  EXPECT_GT(last.skipped_steps, 0);
  EXPECT_EQ(last.loss_scale,
            0x1p24F / static_cast<float>(1 << last.skipped_steps));
  EXPECT_EQ(last.skipped_steps, results[10].skipped_steps);
  EXPECT_LT(last.loss, results[0].loss);
}

// Gradients of a small loss vanish in float16, unless it is scaled.
TEST(LossScaleTest, KeepsSmallGradients) {
  const auto change = [](const torch::Tensor& gradient, std::int64_t /*step*/) {
    return InFloat16(gradient * 0x1p-26) * 0x1p26;
  };
  OptimizerOptions options = Options(std::nullopt);
  options.weight_decay = 0;
  LayerRun plain(options, change);
  const TensorMap start = plain.Saved();
  plain.Train(0, 1);
  EXPECT_TRUE(plain.Saved() == start);
  options.loss_scale = LossScaleOptions{.dynamic = false};
  LayerRun scaled(options, change);
  scaled.Train(0, 1);
  EXPECT_FALSE(WithoutScale(scaled.Saved()) == start);
}

TEST(LossScaleTest, IsNotReportedWithoutAScale) {
  LayerRun run(Options(std::nullopt));
  EXPECT_THAT(Scales(run.Train(0, 1)), ElementsAre(Pair(0, 0)));
}

}  // namespace infeed::loss_scale_test
