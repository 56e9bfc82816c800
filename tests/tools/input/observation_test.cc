#include "tools/input/observation.h"

#include <nlohmann/json.hpp>

#include "tests/support/made_stats.h"
#include "tools/input/metrics_server.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using nlohmann::json;

PipelineStats Later() {
  PipelineStats stats = BusyRun();
  stats.elapsed_seconds += 2;
  stats.images += 500;
  return stats;
}

class MetricsPagesTest : public ::testing::Test {
 protected:
  json StatsPage() {
    return json::parse(pages_.Page("/stats.json").value().body);
  }

  LiveStats live_;
  MetricsPages pages_{live_, {{"run", "m"}}};
};

TEST_F(MetricsPagesTest, ShowsPrometheusTheRun) {
  const LiveStats::Shown shown(&live_, BusyRun);
  const WebPage page = pages_.Page("/metrics").value();
  EXPECT_EQ(page.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(page.body, PrometheusText(BusyRun(), {{"run", "m"}}));
}

TEST_F(MetricsPagesTest, ShowsTheIntervalSinceItWasLastAsked) {
  PipelineStats now = BusyRun();
  const LiveStats::Shown shown(&live_, [&now] { return now; });
  const json first = StatsPage();
  EXPECT_EQ(first["run"]["images"], 1280);
  EXPECT_EQ(first["interval"]["images"], 1280);
  now = Later();
  const json second = StatsPage();
  EXPECT_EQ(second["run"]["images"], 1780);
  EXPECT_EQ(second["interval"]["images"], 500);
  EXPECT_EQ(second["interval"]["images_per_second"], 250);
}

TEST_F(MetricsPagesTest, BeginsAnewWithAnotherRun) {
  {
    const LiveStats::Shown shown(&live_, Later);
    (void)StatsPage();
  }
  const LiveStats::Shown shown(&live_, BusyRun);
  EXPECT_EQ(StatsPage()["interval"]["images"], 1280);
}

TEST_F(MetricsPagesTest, HasNoOther) {
  EXPECT_FALSE(pages_.Page("/"));
  EXPECT_FALSE(pages_.Page("/metrics/"));
  EXPECT_FALSE(pages_.Page(""));
}

}  // namespace
}  // namespace infeed
