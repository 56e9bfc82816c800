#include "pipeline/stats.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(StageCounterTest, AddsUp) {
  StageCounter counter;
  counter.Add(100, milliseconds(20), milliseconds(5));
  counter.Add(50, milliseconds(10), milliseconds(1), 4);
  const StageStats stats = counter.Read("decode");
  EXPECT_EQ(stats.name, "decode");
  EXPECT_EQ(stats.items, 5);
  EXPECT_EQ(stats.bytes, 150);
  EXPECT_DOUBLE_EQ(stats.busy_seconds, 0.030);
  EXPECT_DOUBLE_EQ(stats.wait_seconds, 0.006);
}

TEST(StageCounterTest, LosesNothingBetweenThreads) {
  StageCounter counter;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          counter.Add(2, milliseconds(1), milliseconds(0));
        }
      });
    }
  }
  EXPECT_EQ(counter.Read("read").items, 4000);
  EXPECT_EQ(counter.Read("read").bytes, 8000);
}

TEST(StageCountersTest, AreInTheOrderOfTheDatasWay) {
  std::string names;
  for (const StageStats& stage : StageCounters().Read()) {
    names += stage.name + " ";
  }
  EXPECT_EQ(names, "order read decode resize batch ");
}

TEST(SeekIndexTextTest, NamesTheFirstThatWasRefused) {
  EXPECT_EQ(SeekIndexText({.used = 7, .none = 2}),
            "seek index: 7 used, 0 refused, 2 none");
  EXPECT_EQ(SeekIndexText({.refused = 1, .first_refused = "a: record 3: why"}),
            "seek index: 0 used, 1 refused, 0 none; the first refused: a: "
            "record 3: why");
}

TEST(StageTableTest, HasALineForEachStage) {
  PipelineStats stats;
  stats.elapsed_seconds = 10;
  stats.threads = 2;
  stats.stages = {{"read", 1000, 110'000'000, 1, 0.5},
                  {"decode", 1000, 393'000'000, 8, 2}};
  EXPECT_EQ(StageTable(stats),
            "stage       images         MB    busy s  busy %  images/s "
            "wait ms/i\n"
            "read         1000      110.0      1.00     5.0      1000     0.500"
            "\n"
            "decode       1000      393.0      8.00    40.0       125     2.000"
            "\n");
}

TEST(StageTableTest, DividesByNothingBeforeTheFirstBatch) {
  PipelineStats stats;
  stats.stages = {{"read", 0, 0, 0, 0}};
  EXPECT_THAT(StageTable(stats), HasSubstr("    -     0.000\n"));
}

}  // namespace
}  // namespace infeed
