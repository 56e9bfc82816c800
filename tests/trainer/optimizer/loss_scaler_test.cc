#include "trainer/optimizer/loss_scaler.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "base/error.h"
#include "tests/support/matchers.h"

namespace infeed::loss_scaler_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<OptimizedParameter> TwoParameters() {
  return {{.name = "a", .weight = torch::arange(5.0).requires_grad_()},
          {.name = "b", .weight = torch::ones({2, 2}).requires_grad_()}};
}

// All elements of a parameter's gradient have one value.
void SetGradients(const std::vector<OptimizedParameter>& parameters, float a,
                  float b) {
  parameters[0].weight.mutable_grad() =
      torch::full_like(parameters[0].weight, a);
  parameters[1].weight.mutable_grad() =
      torch::full_like(parameters[1].weight, b);
}

float Number(const torch::Tensor& tensor) { return tensor.item<float>(); }

// The scale after each of some steps, of which some are refused.
std::vector<float> Scales(LossScaler& scaler, const std::string& steps) {
  std::vector<float> scales;
  for (const char step : steps) {
    scaler.Update(torch::tensor(step == 'x' ? 1.F : 0.F));
    scales.push_back(Number(scaler.scale()));
  }
  return scales;
}

TEST(LossScalerTest, ScalesTheLossAndUnscalesItsGradients) {
  const LossScaler scaler({.scale = 1024}, torch::kCPU);
  const std::vector<OptimizedParameter> parameters = TwoParameters();
  scaler.Scaled(3 * parameters[0].weight.sum() + 5 * parameters[1].weight.sum())
      .backward();
  EXPECT_EQ(Number(parameters[0].weight.grad()[4]), 3 * 1024);
  EXPECT_EQ(Number(scaler.Unscale(parameters)), 0);
  EXPECT_TRUE(parameters[0].weight.grad().equal(torch::full({5}, 3.F)));
  EXPECT_TRUE(parameters[1].weight.grad().equal(torch::full({2, 2}, 5.F)));
}

TEST(LossScalerTest, FindsAnyGradientThatIsNotFinite) {
  const LossScaler scaler({}, torch::kCPU);
  const std::vector<OptimizedParameter> parameters = TwoParameters();
  for (const float bad : {kInfinity, -kInfinity, kNan}) {
    SetGradients(parameters, 1, 1);
    parameters[0].weight.mutable_grad()[3] = bad;
    EXPECT_EQ(Number(scaler.Unscale(parameters)), 1);
    SetGradients(parameters, 1, bad);
    EXPECT_EQ(Number(scaler.Unscale(parameters)), 1);
  }
  SetGradients(parameters, std::numeric_limits<float>::max(), 0);
  EXPECT_EQ(Number(scaler.Unscale(parameters)), 0);
}

// torch.amp.GradScaler with growth_interval=3 gives these scales.
TEST(LossScalerTest, HalvesAfterASkippedStepAndDoublesAfterAnInterval) {
  LossScaler scaler({.scale = 64, .growth_interval = 3}, torch::kCPU);
  EXPECT_THAT(Scales(scaler, "xx..x...."),
              ElementsAre(32, 16, 16, 16, 8, 8, 8, 16, 16));
  EXPECT_THAT(Scales(scaler, ".."), ElementsAre(16, 32));
  EXPECT_EQ(scaler.skipped_steps().item<std::int64_t>(), 3);
}

TEST(LossScalerTest, StartsAsTheOneOfPyTorch) {
  LossScaler scaler({}, torch::kCPU);
  const std::vector<float> scales = Scales(scaler, std::string(2000, '.'));
  EXPECT_EQ(scales[1998], 65536);
  EXPECT_EQ(scales[1999], 2 * 65536);
}

TEST(LossScalerTest, AStaticScaleStays) {
  LossScaler scaler({.scale = 12, .dynamic = false, .growth_interval = 1},
                    torch::kCPU);
  EXPECT_THAT(Scales(scaler, ".x."), ElementsAre(12, 12, 12));
  EXPECT_EQ(scaler.skipped_steps().item<std::int64_t>(), 1);
  EXPECT_EQ(scaler.State().size(), 1U);
}

TEST(LossScalerTest, StaysWhereItsReciprocalIsANumber) {
  LossScaler scaler({.growth_interval = 1}, torch::kCPU);
  EXPECT_EQ(Scales(scaler, std::string(300, '.')).back(), 0x1p126F);
  EXPECT_EQ(Scales(scaler, std::string(300, 'x')).back(), 0x1p-126F);
}

TEST(LossScalerTest, GoesOnFromItsStateAsIfNeverStopped) {
  const LossScaleOptions options = {.scale = 64, .growth_interval = 3};
  LossScaler whole(options, torch::kCPU);
  LossScaler resumed(options, torch::kCPU);
  Scales(whole, "x..");
  FromHost(resumed.State(), ToHost(whole.State()));
  EXPECT_EQ(Scales(resumed, ".x"), (std::vector<float>{64, 32}));
  EXPECT_EQ(Scales(whole, ".x"), (std::vector<float>{64, 32}));
  EXPECT_TRUE(ToHost(resumed.State()) == ToHost(whole.State()));
}

// Another precision or loss_scale keeps other tensors.
TEST(LossScalerTest, TakesTheStateOfAnotherScale) {
  LossScaler changed({.scale = 64, .dynamic = false}, torch::kCPU);
  Scales(changed, "xx");
  LossScaler dynamic({}, torch::kCPU);
  for (const TensorMap& state : {TensorMap(), ToHost(changed.State())}) {
    CheckFits(dynamic.State(), state, kLossScalePrefix);
    FromHost(dynamic.State(), state);
  }
  EXPECT_EQ(Number(dynamic.scale()), 65536);
  EXPECT_EQ(dynamic.skipped_steps().item<std::int64_t>(), 2);
  CheckFits(changed.State(), ToHost(dynamic.State()), kLossScalePrefix);
  CheckFits({}, ToHost(dynamic.State()), kLossScalePrefix);
  EXPECT_THROW(CheckFits({}, ToHost(dynamic.State())), DataError);
}

class RefusedStepTest
    : public testing::TestWithParam<std::pair<OptimizerKind, Kernels>> {};

// A step of gradients that are not finite keeps every bit, counts included, and
// the L2 term is that of the weights.
TEST_P(RefusedStepTest, ChangesNothing) {
  const std::vector<OptimizedParameter> parameters = TwoParameters();
  const std::unique_ptr<Optimizer> optimizer =
      MakeOptimizer({.kind = GetParam().first, .weight_decay = 0.01},
                    parameters, GetParam().second);
  const torch::Tensor rate = torch::tensor(0.1F);
  const auto state = [&] {
    NamedTensors tensors = optimizer->State();
    tensors.emplace_back("weight a", parameters[0].weight);
    tensors.emplace_back("weight b", parameters[1].weight);
    return ToHost(tensors);
  };
  SetGradients(parameters, 0.5F, -2);
  (void)optimizer->Step(rate);
  const TensorMap before = state();
  SetGradients(parameters, kInfinity, kNan);
  const torch::Tensor l2 = optimizer->StepUnless(torch::tensor(1.F), rate);
  EXPECT_TRUE(state() == before);
  EXPECT_FALSE(parameters[0].weight.grad().defined());
  SetGradients(parameters, 1, 1);
  EXPECT_TRUE(l2.equal(optimizer->Step(rate)));
  EXPECT_FALSE(state() == before);
}

TEST_P(RefusedStepTest, OthersAreSteps) {
  std::vector<TensorMap> states;
  for (const bool is_asked : {false, true}) {
    const std::vector<OptimizedParameter> parameters = TwoParameters();
    const std::unique_ptr<Optimizer> optimizer =
        MakeOptimizer({.kind = GetParam().first, .weight_decay = 0.01},
                      parameters, GetParam().second);
    const torch::Tensor rate = torch::tensor(0.1F);
    SetGradients(parameters, 0.5F, -2);
    torch::Tensor l2 = is_asked
                           ? optimizer->StepUnless(torch::tensor(0.F), rate)
                           : optimizer->Step(rate);
    NamedTensors tensors = optimizer->State();
    tensors.emplace_back("weight a", parameters[0].weight);
    tensors.emplace_back("weight b", parameters[1].weight);
    tensors.emplace_back("l2", l2);
    states.push_back(ToHost(tensors));
  }
  EXPECT_TRUE(states[0] == states[1]);
}

std::vector<std::pair<OptimizerKind, Kernels>> AllOptimizers() {
  std::vector<std::pair<OptimizerKind, Kernels>> all;
  for (const auto& [name, kind] : kOptimizers) {
    all.emplace_back(kind, Kernels::kFastest);
    all.emplace_back(kind, Kernels::kLibrary);
  }
  return all;
}

std::string NameOf(const std::pair<OptimizerKind, Kernels>& optimizer) {
  const auto& [kind, kernels] = optimizer;
  return std::string(ChoiceName(kind, kOptimizers)) +
         (kernels == Kernels::kLibrary ? "WithLibrary" : "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, RefusedStepTest,
                         testing::ValuesIn(AllOptimizers()),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace infeed::loss_scaler_test
