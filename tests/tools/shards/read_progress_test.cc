#include "tools/shards/read_progress.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(ReadProgressTest, SaysHowFarHowFastAndHowLongStill) {
  EXPECT_EQ(ReadProgressText({.bytes = 1'000'000'000,
                              .total_bytes = 4'000'000'000,
                              .records = 12345,
                              .seconds = 2}),
            "1.0 GB of 4.0 GB  25 %  500.0 MB/s  12345 records  ETA 6s");
  EXPECT_EQ(ReadProgressText({.bytes = 500'000,
                              .total_bytes = 50'000'000,
                              .records = 3,
                              .seconds = 1}),
            "500.0 kB of 50.0 MB  1 %  500.0 kB/s  3 records  ETA 1m39s");
  EXPECT_EQ(ReadProgressText(
                {.bytes = 1, .total_bytes = 7200, .records = 1, .seconds = 1}),
            "1 B of 7.2 kB  0 %  1 B/s  1 records  ETA 1h59m");
}

TEST(ReadProgressTest, KnowsNoRateAtTheStart) {
  EXPECT_EQ(ReadProgressText({.total_bytes = 100}), "0 B of 100 B  0 %");
  EXPECT_EQ(ReadProgressText({}), "0 B of 0 B  100 %");
}

TEST(ReadProgressTest, KeepsTheEtaIn60Columns) {
  EXPECT_EQ(FittedLine(ReadProgressText({.bytes = 123'400'000'000,
                                         .total_bytes = 987'600'000'000,
                                         .records = 1'234'567,
                                         .seconds = 100}),
                       60),
            "123.4 GB of 987.6 GB  12 %  1.2 GB/s  ETA 11m40s");
}

}  // namespace
}  // namespace infeed
