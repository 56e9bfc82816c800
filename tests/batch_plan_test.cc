#include "pipeline/batch_plan.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

std::vector<BatchPlan> Take(BatchSequence sequence, int count) {
  std::vector<BatchPlan> plans;
  while (static_cast<int>(plans.size()) < count) {
    const std::optional<BatchPlan> plan = sequence.Next();
    if (!plan) {
      break;
    }
    plans.push_back(*plan);
  }
  return plans;
}

TEST(BatchSequenceTest, DropsTheLastPartOfATrainingEpoch) {
  const BatchSequence sequence(10, {.batch_size = 4}, {});
  EXPECT_EQ(sequence.batches_per_epoch(), 2);
  EXPECT_THAT(Take(sequence, 3),
              ::testing::ElementsAre(BatchPlan{0, 0, 4, {0, 4}, false},
                                     BatchPlan{0, 4, 4, {1, 0}, false},
                                     BatchPlan{1, 0, 4, {1, 4}, false}));
}

TEST(BatchSequenceTest, PadsTheLastBatchOfAnEvaluation) {
  const BatchSequence sequence(10, {.batch_size = 4, .training = false}, {});
  EXPECT_EQ(sequence.batches_per_epoch(), 3);
  EXPECT_THAT(Take(sequence, 9),
              ::testing::ElementsAre(BatchPlan{0, 0, 4, {0, 4}, false},
                                     BatchPlan{0, 4, 4, {0, 8}, false},
                                     BatchPlan{0, 8, 2, {0, 10}, true}));
}

TEST(BatchSequenceTest, GivesARankItsPartOfEveryGlobalBatch) {
  InputOptions options{
      .batch_size = 6, .rank = 1, .world_size = 3, .training = false};
  const BatchSequence middle(9, options, {});
  EXPECT_THAT(Take(middle, 9),
              ::testing::ElementsAre(BatchPlan{0, 2, 2, {0, 6}, false},
                                     BatchPlan{0, 8, 1, {0, 9}, true}));
  options.rank = 2;
  const BatchSequence last(9, options, {});
  EXPECT_THAT(Take(last, 9),
              ::testing::ElementsAre(BatchPlan{0, 4, 2, {0, 6}, false},
                                     BatchPlan{0, 10, 0, {0, 9}, true}));
}

TEST(BatchSequenceTest, StartsAtAnyBatch) {
  const BatchSequence sequence(10, {.batch_size = 4},
                               {.epoch = 7, .position = 4});
  EXPECT_EQ(Take(sequence, 1).front(), (BatchPlan{7, 4, 4, {8, 0}, false}));
}

TEST(BatchSequenceTest, TakesTheEndOfAnEpochForTheNextOne) {
  const BatchSequence sequence(10, {.batch_size = 4},
                               {.epoch = 7, .position = 8});
  EXPECT_EQ(sequence.position(), (StreamPosition{8, 0}));
}

TEST(BatchSequenceTest, HasNothingAfterTheEndOfAnEvaluation) {
  const BatchSequence sequence(10, {.batch_size = 4, .training = false},
                               {.epoch = 0, .position = 10});
  EXPECT_TRUE(Take(sequence, 1).empty());
}

auto Refuses(const char* why) {
  return Throws<UsageError>(Property(&UsageError::what, HasSubstr(why)));
}

TEST(BatchSequenceTest, RefusesAStartInsideABatch) {
  EXPECT_THAT(
      [] {
        BatchSequence(10, {.batch_size = 4}, {0, 3});
      },
      Refuses("cannot start at position 3: give a multiple of "
              "batch_size 4"));
}

TEST(BatchSequenceTest, RefusesAStartOutsideTheEpoch) {
  EXPECT_THAT(
      [] {
        BatchSequence(10, {.batch_size = 4}, {0, 12});
      },
      Refuses("the epoch's end at 8"));
  EXPECT_THAT(
      [] {
        BatchSequence(10, {.batch_size = 4}, {0, -4});
      },
      Refuses("cannot start at position -4"));
}

TEST(BatchSequenceTest, RefusesAnEmptyDataSet) {
  EXPECT_THAT([] { BatchSequence(0, {.training = false}, {}); },
              Refuses("the data set has no records"));
}

TEST(BatchSequenceTest, RefusesATrainingBatchLargerThanTheData) {
  EXPECT_THAT([] { BatchSequence(3, {.batch_size = 4}, {}); },
              Refuses("batch_size is 4, but the data set has only 3 records"));
}

}  // namespace
}  // namespace infeed
