#include "pipeline/stats/prometheus.h"

#include <sstream>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/made_stats.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

// The lines with values, each of which must follow its metric's help and type:
// what grows is a counter, and is named so.
std::string SamplesOf(const std::string& text) {
  std::istringstream lines(text);
  std::string samples;
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) {
      name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(line.ends_with(".")) << line;
      EXPECT_TRUE(std::getline(lines, line));
      EXPECT_EQ(line, "# TYPE " + name +
                          (name.ends_with("_total") ? " counter" : " gauge"));
    } else {
      EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), name);
      samples += line + "\n";
    }
  }
  return samples;
}

TEST(PrometheusTextTest, MetricsHaveThisText) {
  PipelineStats stats = CountedRun();
  stats.bad_record_totals = {.bad_samples = 14,
                             .frames = 4,
                             .examples = 5,
                             .labels = 7,
                             .images = 6,
                             .warnings = 8};
  stats.stages.resize(2);
  stats.queues.resize(2);
  stats.workers = {{.address = "a:1",
                    .name = "big",
                    .images = 90,
                    .failed = 2,
                    .latency_seconds = 0.5},
                   {.address = "b:1"}};
  const std::string text = PrometheusText(stats, {}, 3.5);
  EXPECT_THAT(text, StartsWith(R"(# HELP infeed_threads Threads that work.
# TYPE infeed_threads gauge
infeed_threads 2
# HELP infeed_elapsed_seconds_total Time since the first batch was asked for.
# TYPE infeed_elapsed_seconds_total counter
)"));
  EXPECT_EQ(SamplesOf(text), R"(infeed_threads 2
infeed_elapsed_seconds_total 11
infeed_batches_total 20
infeed_images_total 1280
infeed_copied_batches_total 4
infeed_first_batch_seconds 0.5
infeed_consumer_wait_seconds_total 10
infeed_outside_pixels_total 12
infeed_cut_lists_total 3
infeed_storage_read_bytes_total 512
infeed_memory_plan_bytes 50000000
infeed_bad_samples_total 14
infeed_bad_records_total{kind="frame"} 4
infeed_bad_records_total{kind="example"} 5
infeed_bad_records_total{kind="label"} 7
infeed_bad_records_total{kind="image"} 6
infeed_tolerated_warnings_total 8
infeed_cache_records 7
infeed_cache_bytes 770
infeed_cache_hits_total 5
infeed_seek_index_images_total{index="used"} 3
infeed_seek_index_images_total{index="refused"} 1
infeed_seek_index_images_total{index="none"} 2
infeed_seek_index_rows_total{rows="all"} 50
infeed_seek_index_rows_total{rows="covered"} 40
infeed_stage_items_total{stage="order"} 1280
infeed_stage_items_total{stage="read"} 1280
infeed_stage_bytes_total{stage="order"} 0
infeed_stage_bytes_total{stage="read"} 140000000
infeed_stage_busy_seconds_total{stage="order"} 0.01
infeed_stage_busy_seconds_total{stage="read"} 1
infeed_stage_wait_seconds_total{stage="order"} 0.1
infeed_stage_wait_seconds_total{stage="read"} 5
infeed_queue_depth{queue="waiting"} 60
infeed_queue_depth{queue="in_flight"} 4
infeed_queue_depth_max{queue="waiting"} 128
infeed_queue_depth_max{queue="in_flight"} 4
infeed_worker_images_total{worker="a:1"} 90
infeed_worker_images_total{worker="b:1"} 0
infeed_worker_failed_total{worker="a:1"} 2
infeed_worker_failed_total{worker="b:1"} 0
infeed_worker_latency_seconds{worker="a:1"} 0.5
infeed_worker_latency_seconds{worker="b:1"} 0
infeed_workers_wanted 3.5
)");
}

TEST(PrometheusTextTest, HasNoMetricThatTheDocumentationLacks) {
  const std::string docs = ReadWholeFile(INFEED_DOCS "/throughput.md", 1 << 20);
  PipelineStats stats = BusyRun();
  stats.workers.resize(1);
  std::istringstream lines(PrometheusText(stats, {}, 0.0));
  int metrics = 0;
  for (std::string word, name; lines >> word;) {
    if (word == "TYPE" && lines >> name) {
      EXPECT_THAT(docs, HasSubstr("`" + name + "`"));
      ++metrics;
    }
  }
  EXPECT_GT(metrics, 20);
}

TEST(PrometheusTextTest, HasNoMoreThan64Workers) {
  PipelineStats stats;
  EXPECT_THAT(PrometheusText(stats), Not(HasSubstr("infeed_worker")));
  for (int i = 0; i < 100; ++i) {
    stats.workers.push_back({.address = std::to_string(i)});
  }
  const std::string text = PrometheusText(stats);
  EXPECT_THAT(text, HasSubstr("infeed_worker_images_total{worker=\"63\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("worker=\"64\"")));
}

TEST(PrometheusTextTest, PutsTheLabelsOfAllFirst) {
  const std::string text = PrometheusText(BusyRun(), {{"run", "a"}, {"b", ""}});
  EXPECT_THAT(text,
              HasSubstr("\ninfeed_images_total{run=\"a\",b=\"\"} 1280\n"));
  EXPECT_THAT(text, Not(HasSubstr("workers_wanted")));
  EXPECT_THAT(PrometheusText({}, {{"run", "a"}}, 2.0),
              HasSubstr("\ninfeed_workers_wanted{run=\"a\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("infeed_stage_items_total{run=\"a\",b=\"\","
                              "stage=\"decode\"} 1280\n"));
}

TEST(PrometheusTextTest, EscapesLabels) {
  EXPECT_THAT(
      PrometheusText({}, {{"run", "C:\\a \"b\"\nc"}}),
      HasSubstr("infeed_images_total{run=\"C:\\\\a \\\"b\\\"\\nc\"} 0\n"));
}

}  // namespace
}  // namespace infeed
