#include "bench/common/in_turns.h"

#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(InTurnsTest, KeepsTheLeastTimeOfEachTask) {
  int call = 0;
  const Contender falling{"falling", [&](std::size_t task) {
                            return 1e-6 * (100 * task + 10.0 - call++);
                          }};
  const Contender same{"same", [](std::size_t task) { return 2e-6 * task; }};
  const std::vector<TaskTimes> times =
      MeasureInTurns({falling, same}, {.tasks = 2, .repetitions = 2});
  EXPECT_THAT(times[0],
              ElementsAre(testing::DoubleEq(8), testing::DoubleEq(107)));
  EXPECT_THAT(times[1], ElementsAre(0, testing::DoubleEq(2)));
}

TEST(InTurnsTest, LetsEachBeginAndPreparesOnce) {
  std::vector<std::string> log;
  const auto note = [&](const char* name) {
    return Contender{name, [&log, name](std::size_t) {
                       log.push_back(name);
                       return 1.0;
                     }};
  };
  std::vector<double> done;
  std::ignore = MeasureInTurns(
      {note("a"), note("b")},
      {.tasks = 2,
       .repetitions = 1,
       .prepare =
           [&](std::size_t task) { log.push_back(std::to_string(task)); },
       .progress = [&](double part) { done.push_back(part); }});
  EXPECT_THAT(log, ElementsAre("0", "a", "b", "1", "b", "a"));
  EXPECT_THAT(done, ElementsAre(0.5, 1));
}

TEST(InTurnsTest, FindsTheMean) {
  EXPECT_EQ(Mean({3}), 3);
  EXPECT_EQ(Mean({9, 1, 5, 5}), 5);
}

TEST(InTurnsTest, TakesTheTime) {
  bool was_run = false;
  EXPECT_GE(Timed([&](std::size_t) { was_run = true; })(0), 0);
  EXPECT_TRUE(was_run);
}

TEST(MedianTest, IsTheMiddleValue) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 5}), 5);
}

TEST(MedianTest, IsTheMeanOfTwoMiddleValues) {
  EXPECT_EQ(Median({2, 1}), 1.5);
  EXPECT_EQ(Median({9, 1, 5, 7}), 6);
}

}  // namespace
}  // namespace infeed
