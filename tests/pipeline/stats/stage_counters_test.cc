#include "pipeline/stats/stage_counters.h"

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/stats/stage_scope.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

using std::chrono::milliseconds;

TEST(StageCounterTest, AddsUp) {
  StageCounter counter("decode");
  counter.Add(100, milliseconds(20), milliseconds(5));
  counter.Add(50, milliseconds(10), milliseconds(1), 4);
  const StageStats stats = counter.Read();
  EXPECT_EQ(stats.name, "decode");
  EXPECT_EQ(stats.items, 5);
  EXPECT_EQ(stats.bytes, 150);
  EXPECT_DOUBLE_EQ(stats.busy_seconds, 0.030);
  EXPECT_DOUBLE_EQ(stats.wait_seconds, 0.006);
}

// Calls a function in four threads, a thousand times in each.
void InFourThreads(const std::function<void()>& call) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&call] {
      for (int i = 0; i < 1000; ++i) {
        call();
      }
    });
  }
}

TEST(StageCounterTest, LosesNothingBetweenThreads) {
  StageCounter counter("read");
  InFourThreads([&] { counter.Add(2, milliseconds(1), milliseconds(0)); });
  EXPECT_EQ(counter.Read().items, 4000);
  EXPECT_EQ(counter.Read().bytes, 8000);
}

TEST(QueueGaugeTest, KeepsWhatItHeldAtMost) {
  QueueGauge gauge("ready");
  gauge.Add(5);
  gauge.Add(-3);
  gauge.Add(2);
  const QueueStats stats = gauge.Read();
  EXPECT_EQ(stats.name, "ready");
  EXPECT_EQ(stats.depth, 4);
  EXPECT_EQ(stats.most, 5);
}

TEST(QueueGaugeTest, LosesNothingBetweenThreads) {
  QueueGauge gauge("ready");
  InFourThreads([&] {
    gauge.Add(2);
    gauge.Add(-1);
  });
  EXPECT_EQ(gauge.depth(), 4000);
  EXPECT_GE(gauge.Read().most, 4000);
  EXPECT_LE(gauge.Read().most, 4004);
}

TEST(StageCountersTest, StagesAreInTheOrderOfTheDatasWay) {
  StageCounters counters;
  const auto names = [&counters] {
    std::string text;
    for (const StageStats& stage : counters.Read()) {
      text += stage.name + " ";
    }
    return text;
  };
  EXPECT_EQ(names(), "order read decode resize batch ");
  counters.augment.Add(1, {}, {});
  EXPECT_EQ(names(), "order read decode resize augment batch ");
  counters.receive.Add(1, {}, {});
  EXPECT_EQ(names(), "order read decode resize augment receive batch ");
}

TEST(StageCountersTest, CountersShareNoCacheLine) {
  EXPECT_EQ(alignof(StageCounter), kCacheLine);
  EXPECT_EQ(sizeof(StageCounter), kCacheLine);
  EXPECT_EQ(sizeof(QueueGauge), kCacheLine);
}

using Clock = StageCounter::Clock;

TEST(StageScopeTest, CountsAndTracesItsTime) {
  StageCounter counter("read");
  TraceLog log;
  const Clock::time_point start = Clock::now();
  const Clock::time_point asked = start - std::chrono::seconds(2);
  Clock::time_point since = asked;
  {
    StageScope scope(counter, &log, {.epoch = 1, .position = 5, .batch = 3},
                     start, since);
    scope.set_bytes(70);
  }
  const std::vector<TraceLog::Thread> threads = log.Read();
  ASSERT_EQ(threads.size(), 1U);
  ASSERT_EQ(threads[0].events.size(), 1U);
  const TraceEvent& event = threads[0].events[0];
  EXPECT_EQ(event.name, "read");
  EXPECT_EQ(event.place.position, 5);
  EXPECT_EQ(event.start + event.length, since);
  const StageStats stats = counter.Read();
  EXPECT_EQ(stats.items, 1);
  EXPECT_EQ(stats.bytes, 70);
  EXPECT_DOUBLE_EQ(stats.busy_seconds,
                   std::chrono::duration<double>(event.length).count());
  EXPECT_DOUBLE_EQ(stats.wait_seconds, 2);
}

TEST(CountSpanTest, NeedsNoTrace) {
  StageCounter counter("order");
  CountSpan(counter, nullptr, {},
            {.start = Clock::now(),
             .busy = std::chrono::milliseconds(20),
             .wait = std::chrono::milliseconds(5),
             .items = 4});
  const StageStats stats = counter.Read();
  EXPECT_EQ(stats.items, 4);
  EXPECT_DOUBLE_EQ(stats.busy_seconds, 0.020);
  EXPECT_DOUBLE_EQ(stats.wait_seconds, 0.005);
}

}  // namespace
}  // namespace infeed
