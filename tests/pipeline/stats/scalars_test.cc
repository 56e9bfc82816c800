#include "pipeline/stats/scalars.h"

#include "tests/support/made_stats.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StatsScalarsTest, AreTheseOfAnInterval) {
  PipelineStats stats = BusyRun();
  stats.elapsed_seconds = 10;
  stats.first_wait_seconds = 0;
  stats.bad_records = 2;
  stats.outside_pixels = 230'000'000;
  EXPECT_THAT(
      StatsScalars(stats),
      ElementsAre(
          Scalar{"input/images_per_second", 128},
          Scalar{"input/device_wait", 0.9}, Scalar{"input/threads_busy", 0.95},
          Scalar{"input/bad_records", 2}, Scalar{"input/outside_crops", 0.5},
          Scalar{"input/busy/order", 0.001}, Scalar{"input/busy/read", 0.05},
          Scalar{"input/busy/decode", 0.75}, Scalar{"input/busy/resize", 0.15},
          Scalar{"input/busy/augment", 0}, Scalar{"input/queue/waiting", 60},
          Scalar{"input/queue/in_flight", 4}, Scalar{"input/queue/ready", 0},
          Scalar{"input/queue/free", 0}));
}

TEST(StatsScalarsTest, AreNoneOfAnIntervalOfNoLength) {
  EXPECT_THAT(StatsScalars({}), IsEmpty());
}

}  // namespace
}  // namespace infeed
