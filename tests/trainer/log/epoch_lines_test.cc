#include "trainer/log/epoch_lines.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

// The numbers are those of the X10 tutorial's own run; percentages are rounded
// as floats are.
TEST(EpochLinesTest, LinesMatchTheTutorials) {
  EXPECT_EQ(EpochLine(1, {.loss = 0.503, .correct = 50308, .images = 60000},
                      {.loss = 0.135, .correct = 9578, .images = 10000}, 14.1),
            "[Epoch 1] Training Loss: 0.503, Training Accuracy: 50308/60000 "
            "(83.8%), Test Loss: 0.135, Test Accuracy: 9578/10000 (95.8%) "
            "seconds per epoch: 14.1");
  EXPECT_EQ(
      EpochLine(5, {.loss = 0.0566, .correct = 58710, .images = 60000},
                {.loss = 0.05649, .correct = 9825, .images = 10000}, 13.64),
      "[Epoch 5] Training Loss: 0.057, Training Accuracy: 58710/60000 "
      "(97.8%), Test Loss: 0.056, Test Accuracy: 9825/10000 (98.2%) "
      "seconds per epoch: 13.6");
}

TEST(EpochTallyTest, WeighsEachBatchAlikeAndCountsEachImageOfAnEpoch) {
  EpochTally tally;
  tally.Add({.loss = 1, .top_1 = 100.0F / 128, .images = 128});
  tally.Add({.loss = 4, .top_1 = 95.0F / 96, .images = 96});
  const EpochScore first = tally.Take();
  EXPECT_EQ(first.loss, 2.5);
  EXPECT_EQ(first.correct, 195);
  EXPECT_EQ(first.images, 224);
  EXPECT_EQ(tally.Take().images, 0);
  tally.Add({.loss = 3, .top_1 = 0.5, .images = 8});
  const EpochScore second = tally.Take();
  EXPECT_EQ(second.loss, 3);
  EXPECT_EQ(second.correct, 4);
}

// A batch may be as large as a fraction in float tells its images apart.
TEST(EpochTallyTest, CountsRightInLargeBatches) {
  constexpr std::int64_t kImages = 1 << 20;
  EpochTally tally;
  for (const std::int64_t correct : {1, 12345, 333333, (1 << 20) - 1}) {
    tally.Add(
        {.top_1 = static_cast<float>(correct) / kImages, .images = kImages});
    EXPECT_EQ(tally.Take().correct, correct);
  }
}

}  // namespace
}  // namespace infeed
