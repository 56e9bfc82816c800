#include "pipeline/stats/bottleneck.h"

#include "tests/support/made_stats.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(BottleneckTest, TheStageOfMostWorkIsTheBottleneckOfBusyThreads) {
  const Bottleneck bottleneck = BottleneckOf(BusyRun());
  EXPECT_EQ(bottleneck.bound, Bound::kWorkers);
  EXPECT_EQ(bottleneck.stage, "decode");
  EXPECT_DOUBLE_EQ(bottleneck.stage_share, 15.0 / 19);
  EXPECT_DOUBLE_EQ(bottleneck.busy_share, 19.0 / 22);
  EXPECT_DOUBLE_EQ(bottleneck.device_wait_share, 0.9);
  // In the device's own time: it worked for one second.
  EXPECT_DOUBLE_EQ(bottleneck.device_rate.value(), 1216.0);
  // 19 / 11 cores were busy and gave a tenth of what the device takes.
  EXPECT_DOUBLE_EQ(bottleneck.cores_needed.value(), 19.0 / 11 * 9);
}

TEST(BottleneckTest, CountsAugmentationAsWork) {
  PipelineStats stats = BusyRun();
  stats.stages.push_back({"augment", 1280, 0, 16, 0});
  const Bottleneck bottleneck = BottleneckOf(stats);
  EXPECT_EQ(bottleneck.stage, "augment");
  EXPECT_DOUBLE_EQ(bottleneck.stage_share, 16.0 / 35);
}

// Three quarters of the images came from workers, whose work the threads do not
// have; the cores would have to make all of them.
TEST(BottleneckTest, CoresThatFeedTheDeviceDoTheWorkersPartToo) {
  PipelineStats stats = BusyRun();
  stats.stages.push_back({"receive", 3 * 1280, 0, 2, 0});
  const Bottleneck bottleneck = BottleneckOf(stats);
  EXPECT_DOUBLE_EQ(bottleneck.cores_needed.value(), 4 * 19.0 / 11 * 9);
  EXPECT_DOUBLE_EQ(bottleneck.busy_share, 19.0 / 22);
  EXPECT_EQ(bottleneck.stage, "decode");
}

TEST(BottleneckTest, CountsTheWorkersThatFeedTheDevice) {
  PipelineStats stats = BusyRun();
  stats.images *= 4;
  stats.consumer_wait_seconds = 5;  // Of ten.
  stats.stages.push_back({"receive", 3 * 1280, 0, 2, 0});
  stats.workers = {{.address = "a:1", .images = 3840, .open_seconds = 10},
                   {.address = "b:1", .open_seconds = 2}};
  const Bottleneck bottleneck = BottleneckOf(stats);
  EXPECT_DOUBLE_EQ(bottleneck.device_rate.value(), 4864.0 / 5);
  EXPECT_DOUBLE_EQ(bottleneck.worker_rate.value(), 320);
  // 486.4 images/s were delivered, a quarter of them made here.
  EXPECT_DOUBLE_EQ(bottleneck.workers_wanted.value(), (972.8 - 121.6) / 320);
}

TEST(BottleneckTest, WhereTheDeviceDoesNotWaitTheOpenWorkersAreWanted) {
  PipelineStats stats = BusyRun();
  stats.consumer_wait_seconds = 0;
  stats.first_wait_seconds = 0;
  stats.images = 2 * 1280;
  stats.stages.push_back({"receive", 1280, 0, 2, 0});
  stats.workers = {{.images = 1000, .open_seconds = 11},
                   {.images = 280, .open_seconds = 11}};
  EXPECT_DOUBLE_EQ(BottleneckOf(stats).workers_wanted.value(), 2);
  stats.stages[1].items = 0;  // All came from workers.
  stats.images = 1280;
  EXPECT_DOUBLE_EQ(BottleneckOf(stats).workers_wanted.value(), 2);
}

TEST(BottleneckTest, WithoutADeviceOrAnImageNoNumberOfWorkersIsWanted) {
  PipelineStats stats = BusyRun();
  EXPECT_FALSE(BottleneckOf(stats).workers_wanted);
  stats.workers = {{.open_seconds = 11}};
  EXPECT_FALSE(BottleneckOf(stats).worker_rate);
  EXPECT_FALSE(BottleneckOf(stats).workers_wanted);
  stats.workers[0].images = 110;
  EXPECT_TRUE(BottleneckOf(stats).workers_wanted);
  stats.has_device = false;
  EXPECT_DOUBLE_EQ(BottleneckOf(stats).worker_rate.value(), 10);
  EXPECT_FALSE(BottleneckOf(stats).workers_wanted);
  stats = {};
  stats.workers = {{.images = 1, .open_seconds = 1}};
  EXPECT_FALSE(BottleneckOf(stats).workers_wanted);
}

// 19 ms of work for each of 1,280 images: of the stages' own counts, since a
// cache or a bad record's substitute make them differ.
TEST(BottleneckTest, CountsWhatACoreMakes) {
  PipelineStats stats = BusyRun();
  EXPECT_DOUBLE_EQ(BottleneckOf(stats).images_per_core.value(), 1280.0 / 19);
  stats.stages[1].items *= 2;
  EXPECT_DOUBLE_EQ(BottleneckOf(stats).images_per_core.value(), 1280.0 / 18.5);
  stats.stages.clear();
  EXPECT_FALSE(BottleneckOf(stats).images_per_core);
}

TEST(BottleneckTest, KnowsNoCoresWhereWorkersMakeAllImages) {
  PipelineStats stats = BusyRun();
  for (StageStats& stage : stats.stages) {
    stage.items = 0;
    stage.busy_seconds = 0;
  }
  stats.stages.push_back({"receive", 1280, 0, 2, 0});
  EXPECT_FALSE(BottleneckOf(stats).cores_needed);
  stats.consumer_wait_seconds = 0.1;
  EXPECT_EQ(BottleneckOf(stats).cores_needed, 0);
}

TEST(BottleneckTest, KnowsWhatTheDeviceCanTake) {
  const auto of = [](auto change) {
    PipelineStats stats = BusyRun();
    change(stats);
    return BottleneckOf(stats);
  };
  // All images of an interval after the first batch.
  EXPECT_DOUBLE_EQ(of([](PipelineStats& stats) {
                     stats.first_wait_seconds = 0;
                   }).device_rate.value(),
                   1280.0 / 2);
  const Bottleneck fed =
      of([](PipelineStats& stats) { stats.consumer_wait_seconds = 0.1; });
  EXPECT_EQ(fed.bound, Bound::kConsumer);
  EXPECT_EQ(fed.cores_needed, 0);
  EXPECT_DOUBLE_EQ(fed.device_rate.value(), 1216 / 9.9);
  // A device that does nothing, none, one batch, and no batch.
  const Bottleneck idle =
      of([](PipelineStats& stats) { stats.consumer_wait_seconds = 9.95; });
  const Bottleneck none = of([](PipelineStats& stats) {
    stats.has_device = false;
    stats.consumer_wait_seconds = 0.1;
  });
  const Bottleneck one = of([](PipelineStats& stats) {
    stats.first_wait_seconds = stats.elapsed_seconds;
    stats.consumer_wait_seconds = 0;
  });
  for (const Bottleneck& unknown : {idle, none, one, BottleneckOf({})}) {
    EXPECT_FALSE(unknown.device_rate);
    EXPECT_FALSE(unknown.cores_needed);
  }
  EXPECT_EQ(none.bound, Bound::kWorkers);
  EXPECT_EQ(one.device_wait_share, 0);
  EXPECT_EQ(BottleneckOf({}).bound, Bound::kUnknown);
}

TEST(BottleneckTest, ThePoolIsTheBottleneckOfThreadsWithoutBatches) {
  PipelineStats stats = BusyRun();
  stats.stages[2].busy_seconds = 5;
  EXPECT_EQ(BottleneckOf(stats).bound, Bound::kUnknown);
  stats.stages[0].wait_seconds = 5;
  EXPECT_EQ(BottleneckOf(stats).bound, Bound::kPool);
}

TEST(BottleneckTest, TheBasicGraphIsTheBottleneckWhereNothingOverlaps) {
  PipelineStats stats = BusyRun();
  stats.overlapped = false;
  EXPECT_EQ(BottleneckOf(stats).bound, Bound::kNoOverlap);
  stats.consumer_wait_seconds = 0;
  EXPECT_EQ(BottleneckOf(stats).bound, Bound::kConsumer);
}

TEST(BottleneckTest, SharesOutWhatIsWasted) {
  PipelineStats stats = BusyRun();
  stats.outside_pixels = 70'000'000;  // and 230 million inside
  stats.storage_bytes = 35'000'000;
  stats.bad_record_totals = {.samples = 1280, .bad_samples = 32};
  const Bottleneck bottleneck = BottleneckOf(stats);
  EXPECT_DOUBLE_EQ(bottleneck.outside_share, 70.0 / 300);
  EXPECT_DOUBLE_EQ(bottleneck.storage_share, 0.25);
  EXPECT_DOUBLE_EQ(bottleneck.bad_share, 0.025);
}

}  // namespace
}  // namespace infeed
