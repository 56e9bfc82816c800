#include "pipeline/stats/live_stats.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace infeed {
namespace {

PipelineStats WithImages(std::int64_t images) {
  PipelineStats stats;
  stats.images = images;
  return stats;
}

TEST(LiveStatsTest, HasNothingBeforeTheFirstRun) {
  const LiveStats live;
  EXPECT_FALSE(live.Read());
}

TEST(LiveStatsTest, ShowsARunAndKeepsItsEnd) {
  LiveStats live;
  std::int64_t images = 1;
  {
    const LiveStats::Shown shown(&live, [&] { return WithImages(images); });
    EXPECT_EQ(live.Read().value().images, 1);
    images = 2;
    EXPECT_EQ(live.Read().value().images, 2);
    images = 3;
  }
  images = 4;
  EXPECT_EQ(live.Read().value().images, 3);
}

TEST(LiveStatsTest, ShowsNothingToNobody) {
  const LiveStats::Shown shown(nullptr, [] { return WithImages(1); });
}

TEST(LiveStatsTest, StatsAreReadWhileRunsComeAndGo) {
  LiveStats live;
  std::atomic<bool> done{false};
  std::jthread watcher([&] {
    while (!done) {
      EXPECT_EQ(live.Read().value_or(PipelineStats()).threads, 0);
    }
  });
  for (std::int64_t run = 0; run < 200; ++run) {
    const LiveStats::Shown shown(&live, [&run] { return WithImages(run); });
  }
  done = true;
}

}  // namespace
}  // namespace infeed
