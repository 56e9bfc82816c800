#include "trainer/log/run_clock.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace infeed {
namespace {

// A clock that stands until it is moved.
class RunClockTest : public testing::Test {
 protected:
  RunClock Make(int warm_up_steps = 1) {
    return RunClock({.batch_size = 10, .warm_up_steps = warm_up_steps},
                    [this] { return now_; });
  }
  void Pass(double seconds) {
    now_ += std::chrono::duration_cast<RunClock::Clock::duration>(
        std::chrono::duration<double>(seconds));
  }

 private:
  RunClock::Clock::time_point now_;
};

TEST_F(RunClockTest, KeepsTheFirstStepApart) {
  RunClock clock = Make();
  Pass(1);
  clock.BeginLoop(0);
  Pass(5);
  clock.Step(4);
  EXPECT_TRUE(clock.in_warm_up());
  EXPECT_DOUBLE_EQ(clock.images_per_second(), 2);
  EXPECT_DOUBLE_EQ(clock.input_wait(), 0.8);
  Pass(1);
  clock.Step(4.5);
  EXPECT_FALSE(clock.in_warm_up());
  EXPECT_DOUBLE_EQ(clock.images_per_second(), 10);
  EXPECT_DOUBLE_EQ(clock.input_wait(), 0.5);
  Pass(1);
  clock.Step(4.5);
  clock.EndLoop({.done = 3, .waited = 4.5, .drained = 0.5});
  const RunTimes times = clock.times();
  EXPECT_DOUBLE_EQ(times.start_up, 1);
  EXPECT_DOUBLE_EQ(times.warm_up, 5);
  EXPECT_EQ(times.warm_up_steps, 1);
  EXPECT_DOUBLE_EQ(times.steady, 2);
  EXPECT_EQ(times.steady_steps, 2);
  EXPECT_DOUBLE_EQ(times.input_wait_share(), 0.25);
  EXPECT_DOUBLE_EQ(times.images_per_second(10), 10);
  EXPECT_DOUBLE_EQ(times.between_steps(), 0.5);
  EXPECT_DOUBLE_EQ(times.total, 8);
}

// A pause between loops is no step's time. A run of one step has no other rate
// than its warm-up's.
TEST_F(RunClockTest, KeepsTheFirstLoopOnlyWhileItIsAlone) {
  RunClock clock = Make();
  for (int loop = 1; loop <= 3; ++loop) {
    clock.BeginLoop(0);
    Pass(loop == 1 ? 4 : 1);
    clock.Step(0);
    clock.EndLoop(
        {.done = 1, .device = {.loops = 1, .operations = 10.0 * loop}});
    if (loop == 1) {
      EXPECT_EQ(clock.times().device.operations, 10);
      EXPECT_DOUBLE_EQ(clock.times().images_per_second(10), 2.5);
    }
    Pass(100);
  }
  EXPECT_EQ(clock.times().device.operations, 20 + 30);
  EXPECT_EQ(clock.times().device.loops, 2);
  EXPECT_DOUBLE_EQ(clock.images_per_second(), 10);
  EXPECT_DOUBLE_EQ(clock.times().steady, 2);
}

TEST_F(RunClockTest, KeepsAsManyStepsApartAsTheDeviceNeeds) {
  RunClock clock = Make(3);
  for (int loop = 0; loop < 2; ++loop) {
    clock.BeginLoop(0);
    for (int step = 2 * loop; step < 2 * loop + 2; ++step) {
      Pass(step < 3 ? 8 : 4);
      clock.Step(step == 3 ? 1 : 0);
      EXPECT_EQ(clock.in_warm_up(), step < 3);
      EXPECT_DOUBLE_EQ(clock.images_per_second(), step < 3 ? 1.25 : 2.5);
    }
    clock.EndLoop({.done = 2, .waited = loop == 1 ? 1.0 : 0});
  }
  const RunTimes times = clock.times();
  EXPECT_DOUBLE_EQ(times.warm_up, 24);
  EXPECT_EQ(times.warm_up_steps, 3);
  EXPECT_DOUBLE_EQ(times.steady, 4);
  EXPECT_EQ(times.steady_steps, 1);
  EXPECT_DOUBLE_EQ(times.input_wait_share(), 0.25);
}

TEST_F(RunClockTest, SaysWhereTheTimeBetweenLoopsWent) {
  RunClock clock = Make();
  clock.BeginLoop(0);
  Pass(1);
  clock.Step(0);
  clock.EndLoop({.done = 1});
  Pass(2);
  clock.EndCheckpoint(1);
  Pass(4);
  clock.EndEvaluation(1);
  Pass(8);
  clock.BeginLoop(0);
  EXPECT_DOUBLE_EQ(clock.times().checkpoints, 2);
  EXPECT_DOUBLE_EQ(clock.times().evaluations, 4);
  EXPECT_EQ(clock.times().evaluation_count, 1);
  EXPECT_DOUBLE_EQ(clock.times().between, 8);
  EXPECT_DOUBLE_EQ(clock.times().between_steps(), 8);
  EXPECT_DOUBLE_EQ(clock.times().start_up, 0);
}

TEST_F(RunClockTest, TracesLoopsCheckpointsAndEvaluations) {
  TraceLog trace;
  RunClock clock({.trace = &trace});
  clock.BeginLoop(0);
  clock.EndLoop({.step = 3, .done = 1});
  clock.EndCheckpoint(3);
  clock.EndEvaluation(3);
  const std::vector<TraceLog::Thread> threads = trace.Read();
  ASSERT_EQ(threads.size(), 1U);
  std::string names;
  for (const TraceEvent& event : threads[0].events) {
    names += std::string(event.name) + " ";
    EXPECT_EQ(event.place.step, 3);
  }
  EXPECT_EQ(names, "loop checkpoint evaluation ");
}

TEST_F(RunClockTest, WeighsNewStepsMore) {
  RunClock clock = Make();
  clock.BeginLoop(0);
  Pass(7);
  clock.Step(0);
  Pass(1);
  clock.Step(0);
  EXPECT_DOUBLE_EQ(clock.images_per_second(), 10);
  Pass(0.5);
  clock.Step(0);
  EXPECT_DOUBLE_EQ(clock.images_per_second(), 10 / 0.95);
  EXPECT_DOUBLE_EQ(clock.seconds_per_step(), 0.75);
}

// A result that waited behind another one does not make a step faster.
TEST_F(RunClockTest, ResultsThatComeTogetherAreNoFasterSteps) {
  RunClock clock = Make();
  clock.BeginLoop(0);
  for (int step = 0; step < 3; ++step) {
    Pass(1);
    clock.Step(0);
  }
  for (int pair = 0; pair < 50; ++pair) {
    Pass(1.999);
    clock.Step(0);
    Pass(0.001);
    clock.Step(0);
  }
  EXPECT_NEAR(clock.images_per_second(), 10, 1);
}

TEST_F(RunClockTest, KnowsNothingBeforeTheFirstStep) {
  RunClock clock = Make();
  EXPECT_EQ(clock.images_per_second(), 0);
  clock.BeginLoop(0);
  Pass(2);
  clock.EndLoop({.waited = 2});  // It was stopped.
  EXPECT_EQ(clock.times().images_per_second(10), 0);
  EXPECT_DOUBLE_EQ(clock.times().warm_up, 2);
  EXPECT_EQ(clock.times().input_wait_share(), 0);
}

}  // namespace
}  // namespace infeed
