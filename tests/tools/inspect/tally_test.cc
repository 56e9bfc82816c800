#include "tests/support/matchers.h"
#include "tools/inspect/feature_stats.h"

namespace infeed {
namespace {

TEST(TallyTest, KnowsQuantilesExactly) {
  Tally tally;
  for (const int value : {5, 1, 3, 2, 4}) {
    tally.Add(value);
  }
  tally.Add(100, 5);
  EXPECT_EQ(tally.count(), 10);
  EXPECT_EQ(tally.min(), 1);
  EXPECT_EQ(tally.Quantile(0.1), 1);
  EXPECT_EQ(tally.Quantile(0.5), 5);
  EXPECT_EQ(tally.Quantile(0.51), 100);
  EXPECT_EQ(tally.max(), 100);
  EXPECT_DOUBLE_EQ(tally.mean(), 51.5);
}

TEST(TallyTest, MergesToTheWhole) {
  Tally first;
  first.Add(1);
  Tally second;
  second.Add(1);
  second.Add(7);
  first.Merge(second);
  EXPECT_EQ(first.count(), 3);
  EXPECT_EQ(first.times().at(1), 2);
  EXPECT_TRUE(Tally().empty());
}

TEST(TallyTest, RoundsToThreeDigits) {
  EXPECT_EQ(RoundedForTally(0), 0);
  EXPECT_EQ(RoundedForTally(999), 999);
  EXPECT_EQ(RoundedForTally(1234), 1230);
  EXPECT_EQ(RoundedForTally(123999), 124000);
}

TEST(LogBinsTest, CoverEachValueOnce) {
  Tally tally;
  for (int value = 1; value <= 1000; ++value) {
    tally.Add(value);
  }
  for (const int per_octave : {1, 4}) {
    const std::vector<TallyBin> bins = LogBins(tally, per_octave);
    std::int64_t next = 1;
    for (const TallyBin& bin : bins) {
      EXPECT_EQ(bin.from, next);
      EXPECT_EQ(bin.count, std::min<std::int64_t>(bin.to, 1000) - bin.from + 1);
      next = bin.to + 1;
    }
    EXPECT_GT(next, 1000);
  }
}

TEST(LogBinsTest, KeepEmptyBinsBetween) {
  Tally tally;
  tally.Add(0);
  tally.Add(4);
  tally.Add(33, 2);
  const std::vector<TallyBin> bins = LogBins(tally, 1);
  ASSERT_EQ(bins.size(), 4U);
  EXPECT_EQ(bins[0].count, 1);
  EXPECT_EQ(bins[1].count, 0);
  EXPECT_EQ(bins[3].from, 32);
  EXPECT_EQ(bins[3].to, 63);
  EXPECT_EQ(bins[3].count, 2);
  EXPECT_THAT(LogBins({}, 4), IsEmpty());
}

}  // namespace
}  // namespace infeed
