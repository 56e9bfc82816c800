#include "tools/rewrite/shard_cut.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace shard_cut_test {

using ::testing::ElementsAre;

using Kind = ShardCut::Kind;

// The numbers of records of the parts, which must follow each other.
std::vector<std::int64_t> Counts(const std::vector<std::int64_t>& bytes,
                                 const ShardCut& cut) {
  std::vector<std::int64_t> counts;
  std::int64_t next = 0;
  for (const ShardRange& range : CutIntoShards(
           static_cast<std::int64_t>(bytes.size()),
           [&](std::int64_t i) { return bytes[static_cast<std::size_t>(i)]; },
           cut)) {
    EXPECT_EQ(range.first, next);
    counts.push_back(range.count);
    next += range.count;
  }
  EXPECT_EQ(next, static_cast<std::int64_t>(bytes.size()));
  return counts;
}

std::vector<std::int64_t> Same(std::size_t count) {
  return std::vector<std::int64_t>(count, 100);
}

TEST(ShardCutTest, MakesShardsOfEqualNumbersOfRecords) {
  EXPECT_THAT(Counts(Same(10), {.kind = Kind::kShards, .value = 4}),
              ElementsAre(3, 3, 2, 2));
}

TEST(ShardCutTest, MakesNoMoreShardsThanThereAreRecords) {
  for (const bool balance_bytes : {false, true}) {
    EXPECT_THAT(Counts(Same(3), {.kind = Kind::kShards,
                                 .value = 8,
                                 .balance_bytes = balance_bytes}),
                ElementsAre(1, 1, 1));
  }
}

TEST(ShardCutTest, MakesOneEmptyShardOfNothing) {
  for (const Kind kind : {Kind::kAuto, Kind::kShards, Kind::kShardBytes,
                          Kind::kRecordsEach, Kind::kBytesEach}) {
    EXPECT_THAT(Counts({}, {.kind = kind, .value = 3}), ElementsAre(0));
  }
}

TEST(ShardCutTest, MakesShardsOfEqualBytes) {
  EXPECT_THAT(
      Counts({600, 100, 100, 100, 100, 100, 100},
             {.kind = Kind::kShards, .value = 2, .balance_bytes = true}),
      ElementsAre(1, 6));
  EXPECT_THAT(
      Counts({100, 100, 100, 900},
             {.kind = Kind::kShards, .value = 3, .balance_bytes = true}),
      ElementsAre(2, 1, 1));
}

TEST(ShardCutTest, MakesAsManyShardsAsASizeAsksFor) {
  EXPECT_THAT(Counts(Same(10), {.kind = Kind::kShardBytes, .value = 400}),
              ElementsAre(4, 3, 3));
}

TEST(ShardCutTest, MakesEightShardsByItself) {
  EXPECT_EQ(Counts(Same(80), {}), std::vector<std::int64_t>(8, 10));
}

TEST(ShardCutTest, CutsAtANumberOfRecords) {
  EXPECT_THAT(Counts(Same(7), {.kind = Kind::kRecordsEach, .value = 3}),
              ElementsAre(3, 3, 1));
}

TEST(ShardCutTest, CutsBeforeARecordThatWouldBeTooMuch) {
  EXPECT_THAT(Counts({100, 200, 300, 100, 900, 100},
                     {.kind = Kind::kBytesEach, .value = 400}),
              ElementsAre(2, 2, 1, 1));
}

TEST(ParseShardCutTest, TakesNumbersSizesAndAuto) {
  EXPECT_EQ(ParseShardCut("auto").kind, Kind::kAuto);
  EXPECT_EQ(ParseShardCut("12").kind, Kind::kShards);
  EXPECT_EQ(ParseShardCut("12").value, 12);
  EXPECT_EQ(ParseShardCut("12MB").kind, Kind::kShardBytes);
  EXPECT_EQ(ParseShardCut("12MB").value, 12'000'000);
}

}  // namespace shard_cut_test
}  // namespace infeed
