#include "pipeline/stats/stats.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "pipeline/stats/consumer_counts.h"
#include "pipeline/stats/live_stats.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

PipelineStats Later() {
  PipelineStats stats;
  stats.elapsed_seconds = 10;
  stats.first_batch_seconds = 0.5;
  stats.threads = 2;
  stats.batches = 20;
  stats.images = 1280;
  stats.copied_batches = 6;
  stats.bad_records = 7;
  stats.first_bad_record = "a: record 3: why";
  stats.bad_record_totals = {.samples = 1280,
                             .bad_samples = 7,
                             .different = 6,
                             .frames = 5,
                             .examples = 4,
                             .images = 3,
                             .warnings = 2};
  stats.cache.hits = 11;
  stats.seek_indexes = {.used = 9,
                        .refused = 5,
                        .none = 3,
                        .found = 8,
                        .rows = 20,
                        .covered_rows = 9};
  stats.outside_pixels = 5000;
  stats.storage_bytes = 4096;
  stats.first_wait_seconds = 0.25;
  stats.consumer_wait_seconds = 4;
  stats.memory_bytes = 1 << 20;
  stats.stages = {{"read", 1300, 900, 3, 2}, {"decode", 1290, 700, 15, 1}};
  stats.queues = {{"ready", 2, 3}};
  stats.workers = {{.address = "new:1", .images = 4},
                   {.address = "a:1",
                    .state = "lost",
                    .images = 90,
                    .failed = 5,
                    .open_seconds = 8,
                    .in_flight = 2,
                    .latency_seconds = 0.5,
                    .cpu_seconds = 3}};
  return stats;
}

PipelineStats Earlier() {
  PipelineStats stats = Later();
  stats.elapsed_seconds = 6;
  stats.batches = 12;
  stats.images = 768;
  stats.copied_batches = 1;
  stats.bad_records = 3;
  stats.bad_record_totals = {.samples = 768, .bad_samples = 3};
  stats.cache.hits = 1;
  stats.seek_indexes = {.used = 4,
                        .refused = 2,
                        .none = 2,
                        .found = 6,
                        .rows = 15,
                        .covered_rows = 6};
  stats.outside_pixels = 3000;
  stats.storage_bytes = 1024;
  stats.consumer_wait_seconds = 1;
  stats.stages = {{"read", 800, 500, 1, 0.5}};
  stats.queues = {{"ready", 1, 2}};
  stats.workers = {{.address = "a:1",
                    .state = "open",
                    .images = 60,
                    .failed = 1,
                    .open_seconds = 5,
                    .in_flight = 7,
                    .latency_seconds = 0.25,
                    .cpu_seconds = 2}};
  return stats;
}

TEST(PipelineStatsTest, SubtractsWhatIsCounted) {
  const PipelineStats interval = Later().Since(Earlier());
  EXPECT_EQ(interval.elapsed_seconds, 4);
  EXPECT_EQ(interval.batches, 8);
  EXPECT_EQ(interval.images, 512);
  EXPECT_EQ(interval.images_per_second(), 128);
  EXPECT_EQ(interval.copied_batches, 5);
  EXPECT_EQ(interval.bad_records, 4);
  EXPECT_EQ(interval.bad_record_totals.samples, 512);
  EXPECT_EQ(interval.bad_record_totals.bad_samples, 4);
  EXPECT_EQ(interval.bad_record_totals.frames, 5);
  EXPECT_EQ(interval.cache.hits, 10);
  EXPECT_EQ(interval.seek_indexes.used, 5);
  EXPECT_EQ(interval.seek_indexes.refused, 3);
  EXPECT_EQ(interval.seek_indexes.none, 1);
  EXPECT_EQ(interval.seek_indexes.found, 2);
  EXPECT_EQ(interval.seek_indexes.rows, 5);
  EXPECT_EQ(interval.seek_indexes.covered_rows, 3);
  EXPECT_EQ(interval.outside_pixels, 2000);
  EXPECT_EQ(interval.storage_bytes, 3072);
  EXPECT_EQ(interval.first_wait_seconds, 0);
  EXPECT_EQ(interval.consumer_wait_seconds, 3);
}

TEST(PipelineStatsTest, SubtractsStagesByName) {
  const PipelineStats interval = Later().Since(Earlier());
  const StageStats& read = *interval.stage("read");
  EXPECT_EQ(read.items, 500);
  EXPECT_EQ(read.bytes, 400);
  EXPECT_EQ(read.busy_seconds, 2);
  EXPECT_EQ(read.wait_seconds, 1.5);
  EXPECT_EQ(interval.stage("decode")->items, 1290);
}

TEST(PipelineStatsTest, SubtractsWorkersByAddress) {
  const PipelineStats interval = Later().Since(Earlier());
  EXPECT_EQ(interval.workers[0].images, 4);
  const WorkerStats& worker = interval.workers[1];
  EXPECT_EQ(worker.images, 30);
  EXPECT_EQ(worker.failed, 4);
  EXPECT_EQ(worker.open_seconds, 3);
  EXPECT_EQ(worker.cpu_seconds, 1);
  EXPECT_EQ(worker.state, "lost");
  EXPECT_EQ(worker.in_flight, 2);
  EXPECT_EQ(worker.latency_seconds, 0.5);
}

TEST(PipelineStatsTest, AWorkerThatCameBackToTheListHasCountedFromZero) {
  PipelineStats later = Later();
  later.workers[1].images = 12;
  later.workers[1].open_seconds = 2;
  const WorkerStats worker = later.Since(Earlier()).workers[1];
  EXPECT_EQ(worker.images, 12);
  EXPECT_EQ(worker.open_seconds, 2);
}

TEST(PipelineStatsTest, KeepsWhatIsNotCounted) {
  const PipelineStats interval = Later().Since(Earlier());
  EXPECT_EQ(interval.threads, 2);
  EXPECT_EQ(interval.first_batch_seconds, 0.5);
  EXPECT_EQ(interval.first_bad_record, "a: record 3: why");
  EXPECT_EQ(interval.memory_bytes, 1 << 20);
  EXPECT_EQ(interval.queues[0].depth, 2);
  EXPECT_EQ(interval.queues[0].most, 3);
}

TEST(PipelineStatsTest, HasNoRateBeforeItBegins) {
  EXPECT_EQ(PipelineStats().images_per_second(), 0);
  EXPECT_EQ(PipelineStats().stage("read"), nullptr);
}

using std::chrono::seconds;
using Time = ConsumerCounts::Clock::time_point;

PipelineStats Read(const ConsumerCounts& counts) {
  PipelineStats stats;
  counts.Read(stats);
  return stats;
}

TEST(ConsumerCountsTest, KeepsTheFirstWaitApart) {
  Batch batch({.size = 2, .image_size = 1});
  std::ranges::fill(batch.weights(), 1.0F);
  ConsumerCounts counts;
  EXPECT_EQ(counts.Delivered(batch, seconds(100)), 2);
  counts.Delivered(batch, seconds(3));
  EXPECT_EQ(Read(counts).batches, 2);
  EXPECT_EQ(Read(counts).images, 4);
  EXPECT_DOUBLE_EQ(Read(counts).first_wait_seconds, 100);
  EXPECT_DOUBLE_EQ(Read(counts).consumer_wait_seconds, 3);
}

TEST(ConsumerCountsTest, LeavesPaddingOut) {
  Batch batch({.size = 2, .image_size = 1});
  std::ranges::fill(batch.weights(), 1.0F);
  batch.BlankSlot(1);
  ConsumerCounts counts;
  EXPECT_EQ(counts.Delivered(batch, seconds(0)), 1);
  EXPECT_EQ(Read(counts).images, 1);
}

TEST(ConsumerCountsTest, StopsTheClockAtTheFirstEnd) {
  ConsumerCounts counts;
  counts.Requested(Time(seconds(10)));
  counts.Requested(Time(seconds(12)));
  counts.Ended(Time(seconds(15)));
  counts.Ended(Time(seconds(99)));
  EXPECT_DOUBLE_EQ(Read(counts).elapsed_seconds, 5);
}

PipelineStats WithImages(std::int64_t images) {
  PipelineStats stats;
  stats.images = images;
  return stats;
}

TEST(LiveStatsTest, ShowsARunAndKeepsItsEnd) {
  LiveStats live;
  EXPECT_FALSE(live.Read());
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
