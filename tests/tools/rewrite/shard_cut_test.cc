#include "tools/rewrite/shard_cut.h"

#include <cstdint>
#include <vector>

#include "tests/support/matchers.h"

namespace infeed::shard_cut_test {

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

TEST(ShardCutTest, CutsByRecordsOrBytes) {
  const std::vector<std::int64_t> three(3, 100);
  const std::vector<std::int64_t> seven(7, 100);
  const std::vector<std::int64_t> ten(10, 100);
  struct Case {
    std::vector<std::int64_t> bytes;
    ShardCut cut;
    std::vector<std::int64_t> counts;
  };
  for (const Case& one :
       {Case{ten, {.kind = Kind::kShards, .value = 4}, {3, 3, 2, 2}},
        // No more shards than records.
        Case{three, {.kind = Kind::kShards, .value = 8}, {1, 1, 1}},
        Case{three,
             {.kind = Kind::kShards, .value = 8, .balance_bytes = true},
             {1, 1, 1}},
        Case{{600, 100, 100, 100, 100, 100, 100},
             {.kind = Kind::kShards, .value = 2, .balance_bytes = true},
             {1, 6}},
        Case{{100, 100, 100, 900},
             {.kind = Kind::kShards, .value = 3, .balance_bytes = true},
             {2, 1, 1}},
        Case{ten, {.kind = Kind::kShardBytes, .value = 400}, {4, 3, 3}},
        Case{std::vector<std::int64_t>(80, 100),
             {},
             std::vector<std::int64_t>(8, 10)},
        Case{seven, {.kind = Kind::kRecordsEach, .value = 3}, {3, 3, 1}},
        // Before a record that would be too much.
        Case{{100, 200, 300, 100, 900, 100},
             {.kind = Kind::kBytesEach, .value = 400},
             {2, 2, 1, 1}}}) {
    EXPECT_EQ(Counts(one.bytes, one.cut), one.counts);
  }
}

TEST(ShardCutTest, MakesOneEmptyShardOfNothing) {
  for (const Kind kind : {Kind::kAuto, Kind::kShards, Kind::kShardBytes,
                          Kind::kRecordsEach, Kind::kBytesEach}) {
    EXPECT_THAT(Counts({}, {.kind = kind, .value = 3}), ElementsAre(0));
  }
}

TEST(ParseShardCutTest, TakesNumbersSizesAndAuto) {
  EXPECT_EQ(ParseShardCut("auto").kind, Kind::kAuto);
  EXPECT_EQ(ParseShardCut("12").kind, Kind::kShards);
  EXPECT_EQ(ParseShardCut("12").value, 12);
  EXPECT_EQ(ParseShardCut("12MB").kind, Kind::kShardBytes);
  EXPECT_EQ(ParseShardCut("12MB").value, 12'000'000);
}

}  // namespace infeed::shard_cut_test
