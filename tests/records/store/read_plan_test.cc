#include <vector>

#include "records/store/record_store.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

constexpr ReadPlanOptions kOptions = {.max_hole_bytes = 50,
                                      .max_read_bytes = 1000};

// A record whose frame has 100 bytes.
RecordLocation At(std::int32_t shard, std::int64_t offset) {
  return {.shard = shard,
          .number = offset,
          .offset = offset,
          .length = 84,
          .overhead = 16};
}

TEST(ReadPlanTest, JoinsNeighboursInTheOrderOfTheirPlaces) {
  const std::vector<RecordLocation> locations = {At(0, 200), At(0, 0),
                                                 At(0, 100)};
  const auto reads = PlanReads(locations, kOptions);
  ASSERT_THAT(reads, SizeIs(1));
  EXPECT_EQ(reads[0].offset, 0);
  EXPECT_EQ(reads[0].bytes, 300);
  EXPECT_THAT(reads[0].records, ElementsAre(1, 2, 0));
}

TEST(ReadPlanTest, ReadsSmallHolesAlong) {
  const std::vector<RecordLocation> locations = {At(0, 0), At(0, 150),
                                                 At(0, 301)};
  const auto reads = PlanReads(locations, kOptions);
  ASSERT_THAT(reads, SizeIs(2));
  EXPECT_EQ(reads[0].bytes, 250);
  EXPECT_EQ(reads[1].offset, 301);
}

TEST(ReadPlanTest, KeepsShardsApartAndReadsShort) {
  std::vector<RecordLocation> locations = {At(1, 0), At(0, 0)};
  for (int i = 1; i < 12; ++i) {
    locations.push_back(At(1, i * 100));
  }
  const auto reads = PlanReads(locations, kOptions);
  ASSERT_THAT(reads, SizeIs(3));
  EXPECT_EQ(reads[0].shard, 0);
  EXPECT_EQ(reads[1].bytes, 1000);
  EXPECT_EQ(reads[2].offset, 1000);
}

TEST(ReadPlanTest, ReadsALongRecordAndARepeatedOne) {
  const RecordLocation wide = {.length = 5000, .overhead = 16};
  const auto reads = PlanReads(std::vector{wide, wide}, kOptions);
  ASSERT_THAT(reads, SizeIs(2));
  EXPECT_EQ(reads[0].bytes, 5016);
  EXPECT_THAT(PlanReads(std::vector{At(0, 0), At(0, 0)}, kOptions), SizeIs(1));
  EXPECT_THAT(PlanReads({}, kOptions), IsEmpty());
}

}  // namespace
}  // namespace infeed
