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
  EXPECT_EQ(live.Read().run, 0);
  EXPECT_EQ(live.Read().stats.images, 0);
}

TEST(LiveStatsTest, ShowsARunAndKeepsItsEnd) {
  LiveStats live;
  std::int64_t images = 1;
  {
    const LiveStats::Shown shown(&live, [&] { return WithImages(images); });
    EXPECT_EQ(live.Read().stats.images, 1);
    images = 2;
    EXPECT_EQ(live.Read().stats.images, 2);
    images = 3;
  }
  images = 4;
  EXPECT_EQ(live.Read().stats.images, 3);
  EXPECT_EQ(live.Read().run, 1);
}

TEST(LiveStatsTest, CountsRuns) {
  LiveStats live;
  for (int run = 1; run <= 2; ++run) {
    const LiveStats::Shown shown(&live, [] { return WithImages(9); });
    EXPECT_EQ(live.Read().run, run);
  }
}

TEST(LiveStatsTest, ShowsNothingToNobody) {
  const LiveStats::Shown shown(nullptr, [] { return WithImages(1); });
}

TEST(LiveStatsTest, StatsAreReadWhileRunsComeAndGo) {
  LiveStats live;
  std::atomic<bool> done{false};
  std::jthread watcher([&] {
    while (!done) {
      EXPECT_EQ(live.Read().stats.threads, 0);
    }
  });
  for (std::int64_t run = 0; run < 200; ++run) {
    const LiveStats::Shown shown(&live, [&run] { return WithImages(run); });
  }
  done = true;
}

}  // namespace
}  // namespace infeed
