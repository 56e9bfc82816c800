#include "pipeline/reading/sample_seek_index.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(SeekIndexCountsTest, KeepsTheFirstRefusedInTheStreamsOrder) {
  SeekIndexCounts counts;
  EXPECT_EQ(counts.Read().first_refused, "");
  counts.Refuse({.seed = 0, .epoch = 1, .position = 2}, DataError("later"));
  counts.Refuse({.seed = 0, .epoch = 0, .position = 9}, DataError("first"));
  counts.Refuse({.seed = 0, .epoch = 0, .position = 9},
                DataError("substitute"));
  EXPECT_EQ(counts.Read().first_refused, "first");
  EXPECT_EQ(counts.Read().refused, 3);
}

}  // namespace
}  // namespace infeed
