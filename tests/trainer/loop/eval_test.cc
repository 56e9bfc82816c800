#include "trainer/loop/eval.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <torch/types.h>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

using testing::FloatNear;

DeviceBatch BatchOf(const std::vector<std::int64_t>& labels,
                    const std::vector<float>& weights) {
  return {.images = {},
          .labels = torch::tensor(labels, torch::kLong),
          .weights = torch::tensor(weights)};
}

// Logits of three classes; the predictions are 2, 0, 1, 1.
torch::Tensor Logits() {
  return torch::tensor(
      {{0.F, 1.F, 2.F}, {3.F, 1.F, 2.F}, {0.F, 1.F, 0.F}, {0.F, 5.F, 0.F}});
}

TEST(EvalCounterTest, CountsWhatWasSaidOfEachLabel) {
  EvalCounter counter(torch::kCPU, 3, 0);
  counter.Add(Logits(), BatchOf({2, 1, 1, 1}, {1, 1, 1, 1}));
  counter.Add(Logits(), BatchOf({2, 2, 2, 2}, {1, 1, 1, 1}));
  const EvalSums sums = counter.Read();
  EXPECT_EQ(sums.images, 8);
  EXPECT_EQ(sums.top_1, 4);
  EXPECT_EQ(sums.top_5, 8);
  EXPECT_EQ(sums.classes, 3);
  EXPECT_THAT(sums.confusion, ElementsAre(0, 0, 0,  //
                                          1, 2, 0,  //
                                          1, 2, 2));
}

TEST(EvalCounterTest, LeavesOutSlotsThatDoNotCount) {
  EvalCounter counter(torch::kCPU, 3, 0);
  EXPECT_EQ(counter.Read().images, 0);
  EXPECT_THAT(counter.Read().scores, IsEmpty());
  torch::Tensor logits = Logits();
  logits[3].fill_(std::nan(""));
  counter.Add(logits, BatchOf({2, -1, 3, 1}, {1, 1, 1, 0}));
  const EvalSums sums = counter.Read();
  EXPECT_EQ(sums.images, 1);
  EXPECT_EQ(sums.top_1, 1);
  EXPECT_NEAR(sums.loss_sum, 0.4076059, 1e-6);  // ln(1 + e^-1 + e^-2)
  EXPECT_THAT(sums.confusion, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(sums.labels, ElementsAre(2));
  EXPECT_THAT(sums.scores, ElementsAre(FloatNear(0.0900306F, 1e-6F),
                                       FloatNear(0.2447285F, 1e-6F),
                                       FloatNear(0.6652410F, 1e-6F)));
}

// argmax takes the first of a row's NaNs for the highest.
TEST(EvalCounterTest, LogitsThatAreNotFiniteAreWrong) {
  EvalCounter counter(torch::kCPU, 3, 0);
  torch::Tensor logits = Logits();
  logits[1].fill_(std::nan(""));
  logits[3][0] = std::numeric_limits<float>::infinity();
  counter.Add(logits, BatchOf({2, 0, 1, 0}, {1, 1, 1, 1}));
  const EvalSums sums = counter.Read();
  EXPECT_EQ(sums.images, 4);
  EXPECT_EQ(sums.top_1, 2);
  EXPECT_EQ(sums.top_5, 2);
  EXPECT_THAT(sums.confusion, ElementsAre(0, 2, 0,  //
                                          0, 1, 0,  //
                                          0, 0, 1));
}

TEST(EvalCounterTest, KeepsTheScoresInOrderUnlessThereAreTooMany) {
  EvalCounter counter(torch::kCPU, 2, 0, /*max_scores=*/6);
  counter.Add(torch::zeros({2, 2}), BatchOf({0, 1}, {1, 1}));
  counter.Add(torch::zeros({1, 2}), BatchOf({1}, {1}));
  const EvalSums all = counter.Read();
  EXPECT_TRUE(all.has_scores);
  EXPECT_THAT(all.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(all.scores, ElementsAreArray(std::vector<float>(6, 0.5F)));
  counter.Add(torch::zeros({1, 2}), BatchOf({1}, {1}));
  const EvalSums sums = counter.Read();
  EXPECT_FALSE(sums.has_scores);
  EXPECT_THAT(sums.scores, IsEmpty());
  EXPECT_THAT(sums.labels, IsEmpty());
  EXPECT_EQ(sums.images, 4);
}

TEST(EvalCounterTest, HasNoMatrixOfTooManyClasses) {
  EvalCounter counter(torch::kCPU, kMaxConfusionClasses + 1, 0);
  counter.Add(torch::zeros({1, kMaxConfusionClasses + 1}), BatchOf({0}, {1}));
  EXPECT_THAT(counter.Read().confusion, IsEmpty());
  EXPECT_EQ(counter.Read().top_1, 1);
}

// The logits of an image are its pixels.
torch::Tensor Pixels(const torch::Tensor& images) { return images.flatten(1); }

TEST(EvalViewsTest, OneViewIsTheModelsOwn) {
  const torch::Tensor images = torch::rand({4, 1, 1, 3}).to(torch::kBFloat16);
  const torch::Tensor logits = MeanLogits(Pixels, images, {});
  EXPECT_EQ(logits.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(logits.equal(images.flatten(1)));
}

TEST(EvalViewsTest, AveragesTheLogitsOfAnImagesViews) {
  const torch::Tensor images = torch::tensor({0.F, 1.F, 2.F, 4.F, 5.F, 9.F, 1.F,
                                              1.F, 1.F, 3.F, 1.F, 1.F})
                                   .reshape({4, 1, 1, 3});
  const auto expect = [&](const EvalViews& views, std::vector<float> mean) {
    const torch::Tensor logits = MeanLogits(Pixels, images, views);
    EXPECT_TRUE(logits.equal(torch::tensor(mean).reshape(logits.sizes())))
        << logits;
  };
  expect({.flip = true}, {1, 1, 1, 6.5, 5, 6.5, 1, 1, 1, 2, 1, 2});
  expect({.crops = 2}, {2, 3, 5.5, 2, 1, 1});
  expect({.crops = 2, .flip = true}, {3.75, 3, 3.75, 1.5, 1, 1.5});
}

TEST(EvalViewsTest, AnImageCountsIfAllItsCropsDo) {
  const DeviceBatch images = LabelsOfImages(
      BatchOf({3, 3, 2, -1, 1, 1}, {1, 1, 1, 0, 1, 1}), /*crops=*/2);
  EXPECT_TRUE(images.labels.equal(torch::tensor({3L, -1L, 1L})));
  EXPECT_TRUE(images.weights.equal(torch::tensor({1.F, 0.F, 1.F})));
}

TEST(PredictionsTest, TheFiveHighestTiesInIndexOrder) {
  const Predictions predictions =
      PredictionsOf(torch::tensor({{0.F, 2.F, 1.F, 2.F, 0.F, 0.F, -1.F},
                                   {9.F, 0.F, 0.F, 0.F, 0.F, 0.F, 0.F}}),
                    torch::tensor({1L, 6L}));
  EXPECT_EQ(predictions.top, 5);
  EXPECT_THAT(predictions.classes_of(0), ElementsAre(1, 3, 2, 0, 4));
  EXPECT_THAT(predictions.classes_of(1), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_NEAR(predictions.probabilities_of(0)[0], 0.3541487, 1e-6);
  EXPECT_NEAR(predictions.probabilities_of(0)[4], 0.0479288, 1e-6);
  EXPECT_NEAR(predictions.losses[0], -std::log(0.3541487), 1e-5);
  EXPECT_NEAR(predictions.losses[1], 9 + std::log(1 + 6 * std::exp(-9.0)),
              1e-5);
}

TEST(PredictionsTest, FewClassesAreAllListed) {
  const Predictions predictions = PredictionsOf(
      torch::tensor({{std::log(1.F), std::log(3.F)}}).to(torch::kBFloat16),
      torch::tensor({0L}));
  EXPECT_EQ(predictions.top, 2);
  EXPECT_THAT(predictions.classes, ElementsAre(1, 0));
  EXPECT_THAT(predictions.probabilities,
              ElementsAre(FloatNear(0.75F, 2e-3F), FloatNear(0.25F, 2e-3F)));
}

}  // namespace
}  // namespace infeed
