#include "trainer/network/drop.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <torch/types.h>

#include "tests/support/torchvision_golden.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(DropBlockMaskTest, DropsTheSquaresThatTheReferenceDrops) {
  const nlohmann::json golden = nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/model_goldens.json"));
  for (const nlohmann::json& entry : golden["drop_block"]) {
    const int side = entry["side"];
    const int size = entry["size"];
    const std::int64_t places = side - size + 1;
    const std::string name =
        "drop_block " + std::to_string(side) + " " + std::to_string(size);
    std::vector<float> noise =
        GoldenNoise(name, static_cast<std::size_t>(2 * 3 * places * places));
    const torch::Tensor kept = DropBlockMask(
        torch::from_blob(noise.data(), {2, 3, places, places}) + 0.5,
        torch::tensor(entry["rate"].get<float>()), size);
    ASSERT_EQ(kept.sizes(), at::IntArrayRef({2, 3, side, side}));
    std::string bits;
    const torch::Tensor flat = kept.contiguous().flatten();
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      bits += flat[i].item<float>() == 1 ? '1' : '0';
    }
    EXPECT_EQ(bits, entry["kept"].get<std::string>()) << name;
  }
}

TEST(DropBlockTest, KeepsWhatItsScheduleSays) {
  // 1 - keep_g at the end of the training, of groups 1 to 4.
  const std::vector<double> dropped = {0.0015625, 0.00625, 0.025, 0.1};
  for (int group = 1; group <= 4; ++group) {
    const double share = dropped[static_cast<std::size_t>(group - 1)];
    EXPECT_NEAR(0.1 * DropBlockShare(group, 14, 14, 7),
                share * 14 * 14 / (7 * 7) / (8 * 8), 1e-12);
    EXPECT_NEAR(0.1 * DropBlockShare(group, 7, 7, 7), share, 1e-12);
    EXPECT_NEAR(0.1 * DropBlockShare(group, 7, 14, 7), share * 2 / 8, 1e-12);
  }
}

// The fraction of ones that the squares leave in group 4.
double KeptIn(const DropBlockOptions& options, std::int64_t step) {
  DropBlock drop_block(options);
  StepRandom random(7);
  random.SetStep(step, torch::kCPU);
  drop_block.SetStep(step, torch::kCPU);
  const torch::Tensor x =
      drop_block.Apply(torch::ones({16, 64, 14, 14}), 4, random);
  return x.ne(0).to(torch::kFloat).mean().item<double>();
}

TEST(DropBlockTest, DropsMoreAsTheTrainingGoesOn) {
  const DropBlockOptions options = {
      .groups = {4}, .keep_prob = 0.9, .size = 1, .train_steps = 1000};
  // Squares of one pixel do not overlap: the fraction is the schedule's.
  EXPECT_EQ(KeptIn(options, 0), 1);
  EXPECT_NEAR(KeptIn(options, 500), 0.95, 0.003);
  EXPECT_NEAR(KeptIn(options, 1000), 0.9, 0.003);
  EXPECT_NEAR(KeptIn(options, 2000), 0.9, 0.003);
}

TEST(DropBlockTest, ScalesByTheElementsThatItKept) {
  DropBlock drop_block(
      {.groups = {3}, .keep_prob = 0.5, .size = 3, .train_steps = 1});
  StepRandom random(7);
  drop_block.SetStep(1, torch::kCPU);
  const torch::Tensor x =
      drop_block.Apply(torch::ones({8, 16, 10, 10}), 3, random);
  const double kept = x.ne(0).sum().item<double>();
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, static_cast<double>(x.numel()));
  EXPECT_NEAR(x.max().item<double>(), static_cast<double>(x.numel()) / kept,
              1e-5);
  EXPECT_NEAR(x.mean().item<double>(), 1, 1e-5);
}

TEST(DropBlockTest, DropsAWholeSmallMap) {
  DropBlock drop_block(
      {.groups = {4}, .keep_prob = 0.5, .size = 7, .train_steps = 1});
  StepRandom random(7);
  drop_block.SetStep(1, torch::kCPU);
  const torch::Tensor means =
      drop_block.Apply(torch::ones({64, 64, 4, 4}), 4, random).mean({2, 3});
  const double scale = means.max().item<double>();
  EXPECT_NEAR(scale, 2, 0.1);
  EXPECT_TRUE(means.eq(0).logical_or(means.eq(scale)).all().item<bool>());
}

TEST(DropBlockTest, KeepsTheTypeOfBfloat16) {
  DropBlock drop_block({.groups = {4}, .keep_prob = 0.5});
  StepRandom random(7);
  EXPECT_EQ(
      drop_block.Apply(torch::ones({1, 1, 8, 8}, torch::kBFloat16), 4, random)
          .scalar_type(),
      torch::kBFloat16);
}

TEST(DropoutTest, KeepsTheMeanAndScalesTheRest) {
  StepRandom random(7);
  const torch::Tensor x = Dropout(torch::ones({100, 1000}), 0.25, random);
  EXPECT_NEAR(x.mean().item<double>(), 1, 0.01);
  EXPECT_NEAR(x.max().item<double>(), 1 / 0.75, 1e-6);
  EXPECT_NEAR(x.eq(0).to(torch::kFloat).mean().item<double>(), 0.25, 0.01);
}

TEST(DropConnectTest, DropsWholeSamples) {
  StepRandom random(7);
  const torch::Tensor samples =
      DropConnect(torch::ones({4000, 2, 3, 3}), 0.25, random).mean({1, 2, 3});
  const double scale = samples.max().item<double>();
  EXPECT_NEAR(scale, 1 / 0.75, 1e-6);
  EXPECT_NEAR(samples.eq(0).to(torch::kFloat).mean().item<double>(), 0.25,
              0.03);
  EXPECT_TRUE(samples.eq(0)
                  .logical_or((samples - scale).abs() < 1e-6)
                  .all()
                  .item<bool>());
}

TEST(StepRandomTest, DrawsByStepAndBySeed) {
  const auto draw = [](std::uint64_t seed, std::int64_t step) {
    StepRandom random(seed);
    random.SetStep(step, torch::kCPU);
    return random.Uniform({4});
  };
  EXPECT_TRUE(draw(1, 5).equal(draw(1, 5)));
  EXPECT_FALSE(draw(1, 5).equal(draw(1, 6)));
  EXPECT_FALSE(draw(1, 5).equal(draw(2, 5)));
  EXPECT_TRUE(StepRandom(1).Uniform({4}).equal(draw(1, 0)));
}

}  // namespace
}  // namespace infeed
