#include "trainer/network/loss.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <torch/types.h>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

using testing::FloatNear;

torch::Tensor Labels(const std::vector<std::int64_t>& labels) {
  return torch::tensor(labels, torch::kLong);
}

std::vector<float> Values(const torch::Tensor& tensor) {
  const auto* data = tensor.data_ptr<float>();
  return {data, data + tensor.numel()};
}

TEST(LossTest, CrossEntropyIsTheLogarithmOfTheLabelsShare) {
  // Softmax of (0, ln 3) is (1/4, 3/4).
  const torch::Tensor logits =
      torch::tensor({0.0F, std::log(3.0F)}).repeat({2, 1});
  EXPECT_THAT(
      Values(CrossEntropy(logits, Labels({0, 1}), 0)),
      ElementsAre(FloatNear(1.3862944F, 1e-6F), FloatNear(0.2876821F, 1e-6F)));
  // Smoothed: -(0.9 * ln(3/4) + 0.1 * (ln(1/4) + ln(3/4)) / 2).
  EXPECT_THAT(Values(CrossEntropy(logits.narrow(0, 0, 1), Labels({1}), 0.1)),
              ElementsAre(FloatNear(0.3426127F, 1e-6F)));
}

TEST(LossTest, CrossEntropyIsAFiniteFloat) {
  EXPECT_THAT(Values(CrossEntropy(torch::tensor({{1000.0F, -1000.0F}}),
                                  Labels({1}), 0)),
              ElementsAre(2000.0F));
  EXPECT_THAT(Values(CrossEntropy(torch::zeros({1, 2}, torch::kBFloat16),
                                  Labels({1}), 0)),
              ElementsAre(FloatNear(0.6931472F, 1e-6F)));
}

TEST(LossTest, CountsSlotsWithAWeightAndAKnownLabel) {
  EXPECT_THAT(
      Values(CountedSlots(Labels({0, 2, 3, -1, 1}),
                          torch::tensor({1.0F, 1.0F, 1.0F, 1.0F, 0.0F}), 3)),
      ElementsAre(1, 1, 0, 0, 0));
}

TEST(LossTest, MaskedSumLeavesSlotsOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const torch::Tensor counted = torch::tensor({1.0F, 1.0F, 0.0F, 1.0F});
  EXPECT_EQ(
      MaskedSum(torch::tensor({1.0F, 2.0F, nan, 6.0F}), counted).item<float>(),
      9);
  EXPECT_EQ(CountSlots(counted).item<float>(), 3);
  EXPECT_EQ(MaskedSum(torch::ones({2}), torch::zeros({2})).item<float>(), 0);
  EXPECT_EQ(CountSlots(torch::zeros({2})).item<float>(), 1);
}

TEST(LossTest, SlotsThatDoNotCountHaveNoGradient) {
  const torch::Tensor logits = torch::zeros({3, 2}).requires_grad_();
  const torch::Tensor labels = Labels({1, 7, -1});
  const torch::Tensor counted = CountedSlots(labels, torch::ones({3}), 2);
  MaskedSum(CrossEntropy(logits, labels, 0.1), counted).backward();
  EXPECT_THAT(Values(logits.grad()),
              ElementsAre(FloatNear(0.45F, 1e-6F), FloatNear(-0.45F, 1e-6F), 0,
                          0, 0, 0));
}

TEST(LossTest, Top1TakesTheFirstOfEqualLogits) {
  const torch::Tensor logits = torch::tensor({1.0F, 3.0F, 3.0F, 2.0F});
  EXPECT_THAT(Values(InTop1(logits.repeat({4, 1}), Labels({0, 1, 2, 3}))),
              ElementsAre(0, 1, 0, 0));
}

TEST(LossTest, Top5CountsTiesAsIn) {
  // Four are strictly greater than the 2s, so each of these is in.
  const torch::Tensor logits =
      torch::tensor({9.0F, 8.0F, 7.0F, 6.0F, 2.0F, 2.0F, 2.0F, 1.0F});
  EXPECT_THAT(
      Values(InTop5(logits.repeat({8, 1}), Labels({0, 1, 2, 3, 4, 5, 6, 7}))),
      ElementsAre(1, 1, 1, 1, 1, 1, 1, 0));
  // Of at most five classes all are, unless a logit is not finite.
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(
      Values(InTop5(torch::tensor({{3.0F, 2.0F, 1.0F}, {infinity, 1.0F, 0.0F}}),
                    Labels({2, 1}))),
      ElementsAre(1, 0));
}

}  // namespace
}  // namespace infeed
