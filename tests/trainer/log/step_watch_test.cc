#include "trainer/log/step_watch.h"

#include <chrono>
#include <semaphore>
#include <string>
#include <vector>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(StepWatchTest, SaysThatTheFirstStepTakesLong) {
  std::string line;
  std::binary_semaphore said(0);
  StepWatch watch({.patience = seconds(0),
                   .work = "64 images on cpu",
                   .advice = "a smaller image",
                   .say = [&](const std::string& text) {
                     line = text;
                     said.release();
                   }});
  watch.Begin(1);
  said.acquire();  // Before any step has ended.
  EXPECT_EQ(line,
            "the first step has taken 0s so far, for 64 images on cpu; a "
            "smaller image makes shorter steps");
}

TEST(StepWatchTest, SaysNothingOfQuickSteps) {
  std::vector<std::string> lines;
  const auto say = [&](const std::string& text) { lines.push_back(text); };
  {
    StepWatch watch({.patience = hours(1), .say = say});
    watch.Begin(1);
    watch.Done(1);
    watch.Pause();
    watch.Begin(2);
  }
  { StepWatch never_begun({.patience = seconds(0), .say = say}); }
  EXPECT_THAT(lines, IsEmpty());
}

class StopTest : public testing::Test {
 protected:
  void Pass(seconds time) { now_ += time; }

  StepWatchOptions::Clock::time_point now_ = {};
  std::vector<std::string> lines_;
  StepWatch watch_{
      {.patience = std::nullopt,
       .say = [this](const std::string& text) { lines_.push_back(text); },
       .now = [this] { return now_; }}};
};

TEST_F(StopTest, SaysForWhichStepItWaits) {
  watch_.Begin(7);
  Pass(seconds(8));
  watch_.StopRequested();
  Pass(seconds(23));
  watch_.Done(7);
  Pass(seconds(1));
  watch_.StopRequested();
  EXPECT_THAT(
      lines_,
      ElementsAre("waiting for the end of step 7, which has taken 8s so far",
                  "waiting for the end of step 8, which has taken 1s so far; "
                  "the step before took 31s"));
}

TEST_F(StopTest, SaysNothingWhereThatIsSoon) {
  watch_.StopRequested();
  watch_.Begin(1);
  Pass(seconds(1));
  watch_.StopRequested();
  watch_.Done(1);
  watch_.StopRequested();
  Pass(seconds(60));
  watch_.Pause();
  watch_.StopRequested();
  EXPECT_THAT(lines_, IsEmpty());
}

}  // namespace
}  // namespace infeed
