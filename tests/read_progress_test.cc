#include "tools/read_progress.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(ReadProgressTest, SaysHowFarHowFastAndHowLongStill) {
  EXPECT_EQ(ReadProgressText({.bytes = 1'000'000'000,
                              .total_bytes = 4'000'000'000,
                              .records = 12345,
                              .seconds = 2}),
            "1.0 of 4.0 GB (25 %), 500.0 MB/s, 12345 records, 6 s left");
  EXPECT_EQ(ReadProgressText({.bytes = 500'000,
                              .total_bytes = 50'000'000,
                              .records = 3,
                              .seconds = 1}),
            "0.5 of 50.0 MB (1 %), 500.0 kB/s, 3 records, 1 min 39 s left");
  EXPECT_EQ(ReadProgressText(
                {.bytes = 1, .total_bytes = 7200, .records = 1, .seconds = 1}),
            "0.0 of 7.2 kB (0 %), 1.0 B/s, 1 records, 1 h 59 min left");
}

TEST(ReadProgressTest, KnowsNoRateAtTheStart) {
  EXPECT_EQ(ReadProgressText({.total_bytes = 100}), "0.0 of 100.0 B (0 %)");
  EXPECT_EQ(ReadProgressText({}), "0.0 of 0.0 B (100 %)");
}

}  // namespace
}  // namespace infeed
