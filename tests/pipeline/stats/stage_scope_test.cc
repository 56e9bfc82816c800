#include "pipeline/stats/stage_scope.h"

#include <chrono>
#include <vector>

#include "gtest/gtest.h"

namespace infeed {
namespace {

using Clock = StageCounter::Clock;

TEST(StageScopeTest, CountsAndTracesItsTime) {
  StageCounter counter("read");
  TraceLog log;
  const Clock::time_point asked = Clock::now() - std::chrono::seconds(2);
  Clock::time_point since = asked;
  {
    StageScope scope(counter, &log, {.epoch = 1, .position = 5, .batch = 3},
                     since);
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
  EXPECT_DOUBLE_EQ(stats.wait_seconds,
                   std::chrono::duration<double>(event.start - asked).count());
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
