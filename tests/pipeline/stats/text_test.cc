#include "pipeline/stats/text.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "pipeline/stats/verdict.h"
#include "tests/support/made_stats.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(StatsJsonTest, JsonHasThisText) {
  PipelineStats stats = CountedRun();
  stats.stages.resize(1);
  stats.queues.resize(1);
  stats.workers = {{.address = "a:1",
                    .name = "big",
                    .state = "open",
                    .images = 90,
                    .ranges = 12,
                    .declined = 6,
                    .unused = 1,
                    .failed = 2,
                    .checked = 3,
                    .open_seconds = 7.5,
                    .in_flight = 4,
                    .credit = 8,
                    .latency_seconds = 0.5,
                    .latency_p99_seconds = 1.5,
                    .cpu_seconds = 2.5}};
  stats.bad_records = 2;
  stats.first_bad_record = "a \"b\": record 3";
  stats.bad_record_totals = {.samples = 1280,
                             .bad_samples = 2,
                             .different = 1,
                             .frames = 2,
                             .warnings = 3,
                             .first_warning = "c: record 5"};
  const std::string text = StatsJson(stats);
  EXPECT_THAT(text, StartsWith("{\n  \"schema\": 1,\n  \"graph\": \"flow\""));
  EXPECT_THAT(text, EndsWith("\"\n}\n"));
  // In this order.
  const auto expected = nlohmann::ordered_json::parse(R"({
"schema": 1, "graph": "flow", "threads": 2, "cores": 2, "has_device": true,
"elapsed_seconds": 11.0, "batches": 20, "images": 1280, "copied_batches": 4,
"images_per_second": 116.36363636363636, "first_batch_seconds": 0.5,
"first_wait_seconds": 1.0, "consumer_wait_seconds": 9.0, "bad_records": 2,
"first_bad_record": "a \"b\": record 3", "outside_pixels": 12, "cut_lists": 3,
"storage_bytes": 512, "memory_bytes": 50000000,
"bad_record_totals": {"samples": 1280, "bad_samples": 2, "different": 1,
  "frame": 2, "example": 0, "label": 0, "image": 0, "warnings": 3,
  "first_warning": "c: record 5", "max_bad_records": -1, "max_bad_rate": 1.0},
"cache": {"records": 7, "bytes": 770, "limit_bytes": 1000, "hits": 5},
"seek_index": {"used": 3, "refused": 1, "none": 2, "found": 4, "rows": 50,
  "covered_rows": 40, "write_error": "", "first_refused": ""},
"stages": [{"name": "order", "items": 1280, "bytes": 0, "busy_seconds": 0.01,
  "wait_seconds": 0.1}],
"queues": [{"name": "waiting", "depth": 60, "most": 128}],
"workers": [{"address": "a:1", "name": "big", "state": "open", "images": 90,
  "ranges": 12, "declined": 6, "unused": 1, "failed": 2, "checked": 3,
  "open_seconds": 7.5, "in_flight": 4, "credit": 8, "latency_seconds": 0.5,
  "latency_p99_seconds": 1.5, "cpu_seconds": 2.5}],
"bottleneck": {"bound": "unknown", "stage": "", "stage_share": 0.0,
  "busy_share": 0.0, "images_per_core": null, "device_wait_share": 0.9,
  "device_rate": 1216.0, "cores_needed": 0.0, "worker_rate": 12.0,
  "workers_wanted": 91.2, "outside_share": 0.0, "storage_share": 0.0,
  "bad_share": 0.0015625}, "verdict": ")" + Verdict(stats) +
                                                      "\"}");
  EXPECT_EQ(nlohmann::ordered_json::parse(text), expected);
}

TEST(StatsJsonTest, SurvivesARunWithoutADeviceAndAnyBytes) {
  PipelineStats stats;
  stats.overlapped = false;
  stats.first_bad_record = "\xFF\xFE";
  const auto json = nlohmann::json::parse(StatsJson(stats));
  EXPECT_EQ(json["graph"], "basic");
  EXPECT_EQ(json["first_bad_record"], "\uFFFD\uFFFD");
  EXPECT_TRUE(json["bottleneck"]["device_rate"].is_null());
  EXPECT_TRUE(json["bottleneck"]["cores_needed"].is_null());
  EXPECT_TRUE(json["bottleneck"]["workers_wanted"].is_null());
}

TEST(SeekIndexTextTest, NamesRefusedAndFoundOnes) {
  EXPECT_EQ(SeekIndexText({.used = 7, .none = 2}),
            "seek index: 7 used, 0 refused, 2 none");
  EXPECT_EQ(SeekIndexText({.refused = 1, .first_refused = "a: record 3: why"}),
            "seek index: 0 used, 1 refused, 0 none; the first refused: a: "
            "record 3: why");
  EXPECT_EQ(SeekIndexText({.used = 7,
                           .none = 2,
                           .found = 2,
                           .rows = 100,
                           .covered_rows = 75,
                           .write_error = "a: no space"}),
            "seek index: 7 used, 0 refused, 2 none, 2 found or extended while "
            "decoding, which cover 75 % of the rows; found ones are not kept "
            "in files: a: no space");
}

TEST(QueueTextTest, SaysNowAndAtMost) {
  PipelineStats stats;
  stats.queues = {{"waiting", 12, 128}, {"free", 1, 3}};
  const std::string queues = "queues: waiting 12 (most 128), free 1 (most 3)";
  EXPECT_EQ(QueueText(stats), queues);
  stats.copied_batches = 4;
  EXPECT_EQ(QueueText(stats), queues + "; 4 batches copied for the consumer");
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
  stats.stages = {{"read", 0, 0, 0, 0}};
  EXPECT_THAT(StageTable(stats), HasSubstr("    -     0.000\n"));
  stats.has_images = false;
  stats.stages = {{"read", 2000, 0, 1, 0}, {"decode", 0, 0, 0, 0}};
  EXPECT_EQ(StageTable(stats),
            "stage      records         MB    busy s  busy % records/s "
            "wait ms/i\n"
            "read         2000        0.0      1.00     5.0      2000     0.000"
            "\n");
}

TEST(WorkerTableTest, HasTheWorstFirstAndEightAtMost) {
  PipelineStats stats;
  EXPECT_EQ(WorkerTable(stats), "");
  stats.workers = {{.address = "fast:9410",
                    .state = "open",
                    .images = 2000,
                    .latency_seconds = 0.0214,
                    .latency_p99_seconds = 0.04},
                   {.address = "slow:9410",
                    .state = "open",
                    .images = 900,
                    .declined = 2,
                    .unused = 4,
                    .latency_seconds = 0.2},
                   {.address = "bad:9410", .state = "lost", .failed = 3}};
  EXPECT_EQ(WorkerTable(stats),
            "worker                   state         images  failed  unused "
            "declined  p50 ms  p99 ms\n"
            "bad:9410                 lost               0       3       0     "
            "   0     0.0     0.0\n"
            "slow:9410                open             900       0       4     "
            "   2   200.0     0.0\n"
            "fast:9410                open            2000       0       0     "
            "   0    21.4    40.0\n");
  stats.workers.resize(10);
  const std::string table = WorkerTable(stats);
  EXPECT_EQ(std::ranges::count(table, '\n'), 9);
  EXPECT_THAT(table, StartsWith("worst 8 of 10 workers "));
  ASSERT_EQ(WorstWorkers(stats).size(), 8U);
  EXPECT_EQ(WorstWorkers(stats).front().address, "bad:9410");
}

TEST(StatsScalarsTest, ReceivingIsNotTheWorkOfTheThreads) {
  PipelineStats stats;
  stats.elapsed_seconds = 10;
  stats.threads = 4;
  stats.stages = {{"receive", 100, 0, 5, 0}};
  EXPECT_THAT(StatsScalars(stats),
              testing::Contains(Scalar{"input/busy/receive", 0.5}));
}

TEST(StatsScalarsTest, AnIntervalHasTheseScalars) {
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
  EXPECT_THAT(StatsScalars({}), IsEmpty());
}

}  // namespace

}  // namespace infeed
