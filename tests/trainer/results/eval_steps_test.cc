#include "trainer/results/eval_steps.h"

#include <cstdint>
#include <vector>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

// The steps after which a run evaluates; at each step of the way it knows how
// many are left.
std::vector<std::int64_t> Walk(const EvalSteps& steps) {
  std::vector<std::int64_t> found;
  std::int64_t step = steps.first_step;
  while (step < steps.last_step) {
    step = steps.NextAfter(step);
    found.push_back(step);
  }
  std::size_t done = 0;
  for (std::int64_t at = steps.first_step; at <= steps.last_step; ++at) {
    while (done < found.size() && found[done] < at) {
      ++done;
    }
    EXPECT_EQ(steps.LeftAt(at),
              std::ssize(found) - static_cast<std::int64_t>(done))
        << at;
  }
  return found;
}

TEST(EvalStepsTest, StepsAreMultiplesOfTheIntervalAndTheEnd) {
  EXPECT_THAT(Walk({.first_step = 5, .last_step = 27, .interval = 10}),
              ElementsAre(10, 20, 27));
  EXPECT_THAT(Walk({.first_step = 0, .last_step = 20, .interval = 10}),
              ElementsAre(10, 20));
}

// 160 images in batches of 48: epochs end after 3.33, 6.67 and 10 steps.
TEST(EvalStepsTest, StepsAreTheEndsOfEpochs) {
  const EpochBatches epochs = {
      .batch_size = 48, .samples = 160, .carries = true};
  EXPECT_THAT(Walk({.last_step = 10, .epochs = epochs}), ElementsAre(3, 6, 10));
  EXPECT_THAT(Walk({.first_step = 4, .last_step = 12, .epochs = epochs}),
              ElementsAre(6, 10, 12));
}

TEST(EvalStepsTest, AStepIsOneOfThemOrNot) {
  const EvalSteps steps = {.first_step = 5, .last_step = 27, .interval = 10};
  EXPECT_FALSE(steps.IsAt(0));
  EXPECT_TRUE(steps.IsAt(10));
  EXPECT_FALSE(steps.IsAt(11));
  EXPECT_TRUE(steps.IsAt(27));
  EXPECT_EQ(steps.LeftAt(31), 0);
}

TEST(SavedStepsTest, CheckpointsComeAtTheEndsOfLoopsAndWithEvaluations) {
  SavedSteps steps = {
      .loop = 300, .interval = 1000, .evaluations = {.last_step = 3000}};
  EXPECT_EQ(steps.NextAfter(0), 1200);
  EXPECT_EQ(steps.NextAfter(2400), 3000);
  steps.evaluates = true;
  steps.evaluations.interval = 700;
  EXPECT_EQ(steps.NextAfter(0), 700);
}

TEST(SavedStepsTest, MultiplesWithoutACheckpointAreNamed) {
  SavedSteps steps = {
      .loop = 300, .interval = 300, .evaluations = {.last_step = 18'000}};
  const std::string text = UnsavedMultiplesText(1000, steps);
  EXPECT_EQ(text,
            "keep_every=1000: checkpoints are written after 6 of its 18 "
            "multiples only: the next ones are after steps 300 and 600; "
            "keep_every=900 has one after each");
  for (const std::int64_t good : {0, 300, 900, 18'001}) {
    EXPECT_EQ(UnsavedMultiplesText(good, steps), "") << good;
  }
  EXPECT_THAT(UnsavedMultiplesText(200, steps),
              EndsWith("; keep_every=300 has one after each"));
  EXPECT_THAT(UnsavedMultiplesText(100, steps),
              EndsWith("300 and 600; give iterations_per_loop and "
                       "steps_per_checkpoint that divide it"));

  steps.evaluations.first_step = 100;  // Its loops end at 400, 700, ...
  EXPECT_THAT(UnsavedMultiplesText(900, steps),
              EndsWith("after 1 of its 20 multiples only: the next ones are "
                       "after steps 400 and 700"));
  steps.evaluates = true;
  steps.evaluations.interval = 450;
  EXPECT_EQ(UnsavedMultiplesText(900, steps), "");
}

}  // namespace
}  // namespace infeed
