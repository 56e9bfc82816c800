#include <string>

#include "pipeline/stats.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Eleven seconds of two threads that worked for 19 of their 22 seconds; the
// consumer got its first batch after one.
PipelineStats BusyRun() {
  PipelineStats stats;
  stats.elapsed_seconds = 11;
  stats.first_wait_seconds = 1;
  stats.threads = 2;
  stats.batches = 20;
  stats.images = 1280;
  stats.consumer_wait_seconds = 9;
  stats.stages = {{"order", 1280, 0, 0.01, 0.1},
                  {"read", 1280, 0, 1, 5},
                  {"decode", 1280, 0, 15, 1},
                  {"resize", 1280, 0, 3, 0},
                  {"batch", 1280, 0, 0, 0.1}};
  return stats;
}

TEST(VerdictTest, SaysNothingBeforeTheFirstBatch) {
  EXPECT_EQ(Verdict({}), "No batch has been delivered yet.");
}

TEST(VerdictTest, NamesTheStageThatBoundsAndItsShare) {
  EXPECT_THAT(
      Verdict(BusyRun()),
      AllOf(StartsWith("decode bounds the throughput with 79 % of the work"),
            HasSubstr("waited 90 % of the time"), HasSubstr("more threads")));
}

TEST(VerdictTest, AdvisesSeekIndexesWhereMostImagesHaveNone) {
  PipelineStats stats = BusyRun();
  stats.seek_indexes = {.used = 500, .refused = 0, .none = 780};
  EXPECT_THAT(Verdict(stats), HasSubstr("records index --seek"));
  stats.seek_indexes = {.used = 780, .refused = 0, .none = 500};
  EXPECT_THAT(Verdict(stats), Not(HasSubstr("seek")));
}

TEST(VerdictTest, BlamesStorageWhereReadingTakesLongest) {
  PipelineStats stats = BusyRun();
  stats.stages[1].busy_seconds = 16;
  stats.stages[2].busy_seconds = 2;
  EXPECT_THAT(Verdict(stats), AllOf(StartsWith("read bounds the throughput"),
                                    HasSubstr("faster storage")));
}

TEST(VerdictTest, BlamesTheImageSizeWhereResizeTakesLongest) {
  PipelineStats stats = BusyRun();
  stats.stages[2].busy_seconds = 3;
  stats.stages[3].busy_seconds = 15;
  EXPECT_THAT(Verdict(stats), AllOf(StartsWith("resize bounds"),
                                    HasSubstr("smaller image_size")));
}

TEST(VerdictTest, AcquitsTheInputOfAConsumerThatNeverWaits) {
  PipelineStats stats = BusyRun();
  stats.consumer_wait_seconds = 0.1;
  stats.stages[2].busy_seconds = 5;
  EXPECT_THAT(Verdict(stats),
              AllOf(StartsWith("The consumer bounds the throughput: it waited "
                               "1 % of the time"),
                    HasSubstr("41 % busy")));
}

TEST(VerdictTest, AdvisesALargerPoolWhereWorkersIdleForWantOfBatches) {
  PipelineStats stats = BusyRun();
  stats.consumer_wait_seconds = 3;
  stats.stages[0].wait_seconds = 5;
  stats.stages[2].busy_seconds = 5;
  EXPECT_THAT(Verdict(stats), AllOf(StartsWith("The batch pool bounds"),
                                    HasSubstr("larger batches_in_pool")));
}

TEST(VerdictTest, DoesNotDivideByNothing) {
  PipelineStats stats = BusyRun();
  stats.first_wait_seconds = stats.elapsed_seconds;
  EXPECT_THAT(Verdict(stats), HasSubstr("it waited 0 % of the time"));
}

TEST(VerdictTest, DoubtsARunThatTellsNothing) {
  PipelineStats stats = BusyRun();
  stats.stages[2].busy_seconds = 1;
  stats.stages[0].wait_seconds = 0;
  EXPECT_THAT(Verdict(stats), HasSubstr("too short to tell"));
}

}  // namespace
}  // namespace infeed
