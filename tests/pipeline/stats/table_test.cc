#include "pipeline/stats/table.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

TEST(SeekIndexTextTest, NamesTheFirstThatWasRefused) {
  EXPECT_EQ(SeekIndexText({.used = 7, .none = 2}),
            "seek index: 7 used, 0 refused, 2 none");
  EXPECT_EQ(SeekIndexText({.refused = 1, .first_refused = "a: record 3: why"}),
            "seek index: 0 used, 1 refused, 0 none; the first refused: a: "
            "record 3: why");
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
}

TEST(StageTableTest, DividesByNothingBeforeTheFirstBatch) {
  PipelineStats stats;
  stats.stages = {{"read", 0, 0, 0, 0}};
  EXPECT_THAT(StageTable(stats), HasSubstr("    -     0.000\n"));
}

}  // namespace
}  // namespace infeed
