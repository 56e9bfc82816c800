#include "pipeline/stats/consumer_counts.h"

#include <algorithm>
#include <chrono>

#include "gtest/gtest.h"

namespace infeed {
namespace {

using std::chrono::seconds;
using Time = ConsumerCounts::Clock::time_point;

PipelineStats Read(const ConsumerCounts& counts) {
  PipelineStats stats;
  counts.Read(stats);
  return stats;
}

TEST(ConsumerCountsTest, CountsNothingBeforeItIsAsked) {
  const ConsumerCounts counts;
  EXPECT_EQ(Read(counts).elapsed_seconds, 0);
  EXPECT_EQ(Read(counts).batches, 0);
}

TEST(ConsumerCountsTest, KeepsTheFirstWaitApart) {
  Batch batch(2, 1);
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
  Batch batch(2, 1);
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

}  // namespace
}  // namespace infeed
