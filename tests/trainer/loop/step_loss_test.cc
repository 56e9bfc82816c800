#include "trainer/loop/step_loss.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "tests/support/torchvision_golden.h"
#include "trainer/network/loss.h"

#include "gtest/gtest.h"

namespace infeed::step_loss_test {

constexpr std::int64_t kClasses = 10;

nlohmann::json ReadGoldens(const std::string& name) {
  return nlohmann::json::parse(
      std::ifstream(INFEED_TEST_DATA "/" + name + ".json"));
}

torch::Tensor Logits(const std::string& name) {
  return torch::tensor(GoldenNoise(name, 2 * kClasses))
      .reshape({2, kClasses})
      .mul(8);
}

// The goldens' two images, which are neighbours. mixed: 0.7 of the own one.
TrainBatch TwoImages(bool mixed) {
  const TrainBatch batch = {.images = torch::zeros({2, 3, 4, 4}),
                            .labels = torch::tensor({3, 7}, torch::kLong),
                            .counted = torch::ones({2})};
  return mixed
             ? Mixed(batch,
                     torch::tensor({0.7F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.7F}))
             : batch;
}

// The largest difference of a mean loss and its gradient from a golden's.
double Difference(const nlohmann::json& golden, const std::string& loss_name,
                  const torch::Tensor& loss, const torch::Tensor& logits) {
  loss.backward();
  return std::max(
      std::abs(loss.item<double>() - golden.at(loss_name).get<double>()),
      (logits.grad().flatten().to(torch::kDouble) -
       torch::tensor(golden.at("gradient").get<std::vector<double>>()))
          .abs()
          .max()
          .item<double>());
}

// timm's BinaryCrossEntropy (make_loss_goldens.py).
TEST(StepLossTest, BceIsTimms) {
  const nlohmann::json goldens = ReadGoldens("loss_goldens");
  ASSERT_EQ(goldens.size(), 6);
  double largest = 0;
  for (const nlohmann::json& golden : goldens) {
    const torch::Tensor logits = Logits("logits").requires_grad_();
    const StepLoss loss(
        {.kind = LossKind::kBce,
         .label_smoothing = golden.at("smoothing").get<double>(),
         .target_threshold = golden.at("threshold").get<double>()},
        {}, torch::kCPU);
    const torch::Tensor mean =
        loss.OfSlots(logits, TwoImages(golden.at("mixed").get<bool>())).mean();
    largest = std::max(largest, Difference(golden, "loss", mean, logits));
  }
  EXPECT_LT(largest, 2e-6);
  RecordProperty("largest_difference", std::to_string(1e9 * largest));
}

// PyTorch's and timm's losses with class weights, timm's soft and DeiT's hard
// distillation (make_step_loss_goldens.py).
TEST(StepLossTest, ClassWeightsAndDistillationArePytorchsAndTimms) {
  const nlohmann::json goldens = ReadGoldens("step_loss_goldens").at("cases");
  ASSERT_EQ(goldens.size(), 11);
  double largest = 0;
  for (const nlohmann::json& golden : goldens) {
    const torch::Tensor logits = Logits("logits").requires_grad_();
    const bool is_taught = !golden.at("distill").get<std::string>().empty();
    const StepLoss loss(
        {.kind =
             ParseChoice("loss", golden.at("loss").get<std::string>(), kLosses),
         .label_smoothing = golden.at("smoothing").get<double>(),
         .target_threshold = golden.at("threshold").get<double>(),
         .class_weights = golden.at("weighted").get<bool>()
                              ? GoldenClassWeights(kClasses)
                              : std::vector<double>()},
        {.weight = golden.at("weight").get<double>(),
         .temperature = golden.at("temperature").get<double>()},
        torch::kCPU);
    const TrainBatch batch = TwoImages(golden.at("mixed").get<bool>());
    const torch::Tensor images = CountSlots(batch.counted);
    const torch::Tensor mean = loss.Of(
        logits, is_taught ? Logits("teacher") : torch::Tensor(), batch,
        {.images = images,
         .loss = loss.weighs_images(batch) ? loss.SumWeights(batch) : images});
    const double difference = Difference(golden, "value", mean, logits);
    EXPECT_LT(difference, 1e-5) << golden.dump();
    largest = std::max(largest, difference);
  }
  RecordProperty("largest_difference", std::to_string(1e9 * largest));
}

TEST(StepLossTest, SoftmaxOfMixedImagesIsThatOfTheMixedTarget) {
  const torch::Tensor logits = Logits("logits");
  const StepLoss loss({.label_smoothing = 0.1}, {}, torch::kCPU);
  // 0.7 of label 3 and 0.3 of label 7, and a tenth for all alike.
  torch::Tensor target = torch::full({kClasses}, 0.1 / kClasses);
  target[3] += 0.9 * 0.7;
  target[7] += 0.9 * 0.3;
  EXPECT_TRUE(loss.OfSlots(logits, TwoImages(true))[0].allclose(
      -(torch::log_softmax(logits[0], 0) * target).sum()));
  EXPECT_TRUE(loss.OfSlots(logits, TwoImages(false))
                  .equal(CrossEntropy(logits, TwoImages(false).labels, 0.1)));
}

TEST(StepLossTest, WeighsTheImagesOfOneLabelAlone) {
  const LossOptions weights = {.class_weights = GoldenClassWeights(kClasses)};
  const StepLoss softmax(weights, {}, torch::kCPU);
  EXPECT_TRUE(softmax.weighs_images(TwoImages(false)));
  EXPECT_FALSE(softmax.weighs_images(TwoImages(true)));
  EXPECT_NEAR(softmax.SumWeights(TwoImages(false)).item<double>(),
              weights.class_weights[3] + weights.class_weights[7], 1e-6);
  LossOptions bce = weights;
  bce.kind = LossKind::kBce;
  EXPECT_FALSE(StepLoss(bce, {}, torch::kCPU).weighs_images(TwoImages(false)));
  EXPECT_FALSE(StepLoss({}, {}, torch::kCPU).weighs_images(TwoImages(false)));
}

TEST(StepLossTest, SlotsThatDoNotCountSpreadNothing) {
  TrainBatch batch = TwoImages(false);
  batch.labels[1] = -1;
  batch.counted[1] = 0;
  torch::Tensor teacher = Logits("teacher");
  teacher[1].fill_(std::nanf(""));
  const torch::Tensor one = torch::ones({});
  const StepLoss loss({.class_weights = GoldenClassWeights(kClasses)}, {},
                      torch::kCPU);
  EXPECT_TRUE(std::isfinite(
      loss.Of(Logits("logits"), teacher, batch, {.images = one, .loss = one})
          .item<float>()));
}

}  // namespace infeed::step_loss_test
