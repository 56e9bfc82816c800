#include "pipeline/stats/prometheus.h"

#include <sstream>
#include <string>

#include "base/atomic_file.h"
#include "tests/support/made_stats.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

TEST(PrometheusTextTest, MetricsHaveThisText) {
  PipelineStats stats = BusyRun();
  stats.copied_batches = 4;
  stats.seek_indexes = {.used = 3,
                        .refused = 1,
                        .none = 2,
                        .found = 4,
                        .rows = 50,
                        .covered_rows = 40};
  stats.outside_pixels = 12;
  stats.storage_bytes = 512;
  stats.bad_record_totals = {.bad_samples = 14,
                             .frames = 4,
                             .examples = 5,
                             .labels = 7,
                             .images = 6,
                             .warnings = 8};
  stats.cache = {.records = 7, .bytes = 770, .limit_bytes = 1000, .hits = 5};
  stats.stages.resize(2);
  stats.queues.resize(2);
  EXPECT_EQ(PrometheusText(stats),
            R"(# HELP infeed_threads Threads that work.
# TYPE infeed_threads gauge
infeed_threads 2
# HELP infeed_elapsed_seconds_total Time since the first batch was asked for.
# TYPE infeed_elapsed_seconds_total counter
infeed_elapsed_seconds_total 11
# HELP infeed_batches_total Batches delivered.
# TYPE infeed_batches_total counter
infeed_batches_total 20
# HELP infeed_images_total Images delivered.
# TYPE infeed_images_total counter
infeed_images_total 1280
# HELP infeed_copied_batches_total Batches copied because the consumer held too many.
# TYPE infeed_copied_batches_total counter
infeed_copied_batches_total 4
# HELP infeed_first_batch_seconds Time from the start until the first batch was whole.
# TYPE infeed_first_batch_seconds gauge
infeed_first_batch_seconds 0.5
# HELP infeed_consumer_wait_seconds_total Time that the consumer waited for batches.
# TYPE infeed_consumer_wait_seconds_total counter
infeed_consumer_wait_seconds_total 10
# HELP infeed_outside_pixels_total Pixels decoded that lie outside the crops.
# TYPE infeed_outside_pixels_total counter
infeed_outside_pixels_total 12
# HELP infeed_storage_read_bytes_total Bytes that the process had from disks, not from the page cache.
# TYPE infeed_storage_read_bytes_total counter
infeed_storage_read_bytes_total 512
# HELP infeed_memory_plan_bytes Bytes that the pipeline's buffers can take.
# TYPE infeed_memory_plan_bytes gauge
infeed_memory_plan_bytes 50000000
# HELP infeed_bad_samples_total Samples whose own record was bad.
# TYPE infeed_bad_samples_total counter
infeed_bad_samples_total 14
# HELP infeed_bad_records_total Times that a record was bad, by what was bad of it.
# TYPE infeed_bad_records_total counter
infeed_bad_records_total{kind="frame"} 4
infeed_bad_records_total{kind="example"} 5
infeed_bad_records_total{kind="label"} 7
infeed_bad_records_total{kind="image"} 6
# HELP infeed_tolerated_warnings_total Images used in spite of a decoder's warning.
# TYPE infeed_tolerated_warnings_total counter
infeed_tolerated_warnings_total 8
# HELP infeed_cache_records Records in the cache.
# TYPE infeed_cache_records gauge
infeed_cache_records 7
# HELP infeed_cache_bytes Memory that the cache takes.
# TYPE infeed_cache_bytes gauge
infeed_cache_bytes 770
# HELP infeed_cache_hits_total Reads that the cache of records answered.
# TYPE infeed_cache_hits_total counter
infeed_cache_hits_total 5
# HELP infeed_seek_index_images_total Images decoded, by what became of their seek index.
# TYPE infeed_seek_index_images_total counter
infeed_seek_index_images_total{index="used"} 3
infeed_seek_index_images_total{index="refused"} 1
infeed_seek_index_images_total{index="none"} 2
# HELP infeed_seek_index_rows_total Rows of MCUs of the decoded JPEGs that can have a seek index, and those that it covers.
# TYPE infeed_seek_index_rows_total counter
infeed_seek_index_rows_total{rows="all"} 50
infeed_seek_index_rows_total{rows="covered"} 40
# HELP infeed_stage_items_total Samples that a stage did.
# TYPE infeed_stage_items_total counter
infeed_stage_items_total{stage="order"} 1280
infeed_stage_items_total{stage="read"} 1280
# HELP infeed_stage_bytes_total Bytes that a stage put out.
# TYPE infeed_stage_bytes_total counter
infeed_stage_bytes_total{stage="order"} 0
infeed_stage_bytes_total{stage="read"} 140000000
# HELP infeed_stage_busy_seconds_total Thread time spent in a stage.
# TYPE infeed_stage_busy_seconds_total counter
infeed_stage_busy_seconds_total{stage="order"} 0.01
infeed_stage_busy_seconds_total{stage="read"} 1
# HELP infeed_stage_wait_seconds_total Time that items waited for a stage, summed over them.
# TYPE infeed_stage_wait_seconds_total counter
infeed_stage_wait_seconds_total{stage="order"} 0.1
infeed_stage_wait_seconds_total{stage="read"} 5
# HELP infeed_queue_depth Samples or batches in a queue.
# TYPE infeed_queue_depth gauge
infeed_queue_depth{queue="waiting"} 60
infeed_queue_depth{queue="in_flight"} 4
# HELP infeed_queue_depth_max The most that a queue held since the start.
# TYPE infeed_queue_depth_max gauge
infeed_queue_depth_max{queue="waiting"} 128
infeed_queue_depth_max{queue="in_flight"} 4
)");
}

TEST(PrometheusTextTest, HasNoMetricThatTheDocumentationLacks) {
  const std::string docs = ReadWholeFile(INFEED_DOCS "/throughput.md", 1 << 20);
  std::istringstream lines(PrometheusText(BusyRun()));
  int metrics = 0;
  for (std::string word, name; lines >> word;) {
    if (word == "TYPE" && lines >> name) {
      EXPECT_THAT(docs, HasSubstr("`" + name + "`"));
      ++metrics;
    }
  }
  EXPECT_GT(metrics, 20);
}

TEST(PrometheusTextTest, PutsTheLabelsOfAllFirst) {
  const std::string text = PrometheusText(BusyRun(), {{"run", "a"}, {"b", ""}});
  EXPECT_THAT(text,
              HasSubstr("\ninfeed_images_total{run=\"a\",b=\"\"} 1280\n"));
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
