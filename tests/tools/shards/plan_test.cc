#include "tools/shards/plan.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

std::vector<std::int64_t> Counts(const std::vector<ShardRange>& ranges) {
  std::vector<std::int64_t> counts;
  for (const ShardRange& range : ranges) {
    counts.push_back(range.count);
  }
  return counts;
}

TEST(ShardsFlagTest, TakesANumberASizeOrNeither) {
  EXPECT_EQ(ParseShardsFlag("auto").number, 0);
  EXPECT_EQ(ParseShardsFlag("auto").bytes, 0);
  EXPECT_EQ(ParseShardsFlag("64").number, 64);
  EXPECT_EQ(ParseShardsFlag("64").bytes, 0);
  EXPECT_EQ(ParseShardsFlag("256MB").bytes, 256'000'000);
  EXPECT_EQ(ParseShardsFlag("1kB").bytes, 1000);
  EXPECT_EQ(ParseShardsFlag("2GiB").bytes, std::int64_t{2} << 30);
  EXPECT_EQ(ParseShardsFlag("1TB").number, 0);
}

TEST(ShardsFlagTest, RefusesEverythingElse) {
  for (const char* text : {"", "0", "-1", "0MB", "MB", "1mb", "1.5GB", "some",
                           "99999999TB", "1MBs", "3 sheep"}) {
    EXPECT_THAT([&] { (void)ParseShardsFlag(text); },
                ThrowsMessage<UsageError>(HasSubstr(
                    "--shards " + std::string(text) + ": give a number")))
        << text;
  }
}

TEST(ShardPlanTest, ChoosesShardsOf128MegabytesButEightIfThereAreImages) {
  EXPECT_EQ(AutoShardCount(1281167, 146'000'000'000), 1141);
  EXPECT_EQ(AutoShardCount(8, 1000), 8);
  EXPECT_EQ(AutoShardCount(500, 54'700'000), 8);
  EXPECT_EQ(AutoShardCount(3, 1000), 3);
  EXPECT_EQ(AutoShardCount(3, 146'000'000'000), 3);
  EXPECT_EQ(AutoShardCount(0, 0), 0);
}

TEST(ShardPlanTest, BalancesShards) {
  EXPECT_THAT(Counts(BalancedShards(10, 4)), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(BalancedShards(5, 2),
              ElementsAre(ShardRange{0, 3}, ShardRange{3, 2}));
  EXPECT_THAT(Counts(BalancedShards(3, 8)), ElementsAre(1, 1, 1));
  EXPECT_THAT(BalancedShards(0, 8), IsEmpty());
}

TEST(ShardPlanTest, ReferenceShardsAreEqualButTheLast) {
  const std::vector<ShardRange> train = ReferenceShards(1281167, 1024);
  ASSERT_THAT(train, SizeIs(1024));
  EXPECT_EQ(train[1022], (ShardRange{1022 * 1252, 1252}));
  EXPECT_EQ(train[1023], (ShardRange{1023 * 1252, 371}));
  EXPECT_EQ(ReferenceShards(50000, 128).back(), (ShardRange{49657, 343}));
  // The last ones of few images are empty.
  const std::vector<ShardRange> few = ReferenceShards(2934, 1024);
  EXPECT_EQ(few[977].count, 3);
  EXPECT_EQ(few[978].count, 0);
  EXPECT_EQ(few[1023], (ShardRange{2934, 0}));
  EXPECT_EQ(ReferenceShards(364, 128)[121].count, 1);
}

TEST(ShardPlanTest, CountsShardsOfASize) {
  EXPECT_EQ(ShardCountBySize(1000, 1000, 100), 10);
  EXPECT_EQ(ShardCountBySize(1000, 1001, 100), 11);
  EXPECT_EQ(ShardCountBySize(1000, 1, 100), 1);
  EXPECT_EQ(ShardCountBySize(3, 1000, 100), 3);
  EXPECT_EQ(ShardCountBySize(0, 0, 100), 0);
}

}  // namespace
}  // namespace infeed
