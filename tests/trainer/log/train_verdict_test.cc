#include "trainer/log/train_verdict.h"

#include "tests/support/made_stats.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

// A hundred seconds of ten loops, nearly all of it in steps.
RunTimes GoodRun() {
  return {.total = 100,
          .start_up = 1,
          .warm_up = 2,
          .steady = 96,
          .between = 0.5,
          .checkpoints = 0.2,
          .evaluations = 0.3,
          .input_wait = 4.8,
          .drain = 0.5,
          .warm_up_steps = 1,
          .steady_steps = 99,
          .loops = 10,
          .evaluation_count = 1};
}

TEST(TrainVerdictTest, SaysWhatBoundsTheRun) {
  const std::string text = TrainVerdict(GoodRun(), BusyRun(), 10);
  EXPECT_THAT(text, StartsWith("decode bounds the run"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_EQ(TrainVerdict(GoodRun(), {}, 10),
            "the device bounds the run: it waited 5 % of the time for its "
            "input");
}

TEST(TrainVerdictTest, SaysThatLoopsAreTooShort) {
  RunTimes times = GoodRun();
  times.between = 5;
  EXPECT_THAT(TrainVerdict(times, {}, 10),
              HasSubstr("\nthe device was idle for 5.4 % of the time while "
                        "the host went from loop to loop, 550.0 ms for each "
                        "loop of 10 steps: a larger iterations_per_loop"));
  times.steady = 1;
  times.drain = 10;
  EXPECT_THAT(TrainVerdict(times, {}, 10), HasSubstr("idle for 93.8 % of"));
  times.loops = 1;
  EXPECT_THAT(TrainVerdict(times, {}, 10), Not(HasSubstr("larger iterations")));
}

TEST(TrainVerdictTest, SaysThatTheRunWasShortAndWhatPausesCost) {
  RunTimes times = GoodRun();
  times.start_up = 20;
  times.warm_up = 40;
  times.evaluations = 10;
  times.checkpoints = 5;
  EXPECT_THAT(
      TrainVerdict(times, {}, 10),
      testing::AllOf(HasSubstr("\nwarm-up took 60 % of the run, 20.0 s before "
                               "the first loop and 40.0 s of it"),
                     HasSubstr("\nevaluations took 10 % of the run"),
                     HasSubstr("\ncheckpoints took 5 % of the run")));
}

}  // namespace
}  // namespace infeed
