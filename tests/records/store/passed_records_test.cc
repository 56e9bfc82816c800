#include "records/store/passed_records.h"

#include <cstddef>
#include <string>

#include "tests/support/bytes.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

std::string TextOf(const std::optional<std::vector<std::byte>>& frame) {
  return frame ? AsText(*frame) : "gone";
}

TEST(PassedRecordsTest, GivesARecordOnce) {
  PassedRecords passed(10);
  passed.Keep(7, AsBytes("abc"));
  EXPECT_EQ(passed.bytes(), 3);
  EXPECT_EQ(TextOf(passed.Take(8)), "gone");
  EXPECT_EQ(TextOf(passed.Take(7)), "abc");
  EXPECT_EQ(TextOf(passed.Take(7)), "gone");
  EXPECT_EQ(passed.bytes(), 0);
}

TEST(PassedRecordsTest, DropsTheOldestToHoldItsLimit) {
  PassedRecords passed(10);
  for (std::int64_t record = 0; record < 5; ++record) {
    passed.Keep(record, AsBytes("abc"));
    EXPECT_LE(passed.bytes(), 10);
  }
  EXPECT_EQ(TextOf(passed.Take(1)), "gone");
  EXPECT_EQ(TextOf(passed.Take(2)), "abc");
  EXPECT_EQ(TextOf(passed.Take(4)), "abc");
}

TEST(PassedRecordsTest, DoesNotKeepWhatIsOverTheLimitAlone) {
  PassedRecords passed(10);
  passed.Keep(1, AsBytes("abc"));
  passed.Keep(2, AsBytes("0123456789a"));
  EXPECT_EQ(TextOf(passed.Take(2)), "gone");
  EXPECT_EQ(TextOf(passed.Take(1)), "abc");
}

// A record that was taken and came again is as old as its second coming.
TEST(PassedRecordsTest, CountsAgeFromTheLastComing) {
  PassedRecords passed(9);
  passed.Keep(1, AsBytes("abc"));
  passed.Keep(2, AsBytes("abc"));
  EXPECT_EQ(TextOf(passed.Take(2)), "abc");
  passed.Keep(3, AsBytes("abc"));
  passed.Keep(2, AsBytes("abc"));
  passed.Keep(4, AsBytes("abc"));
  EXPECT_EQ(TextOf(passed.Take(1)), "gone");
  passed.Keep(5, AsBytes("abc"));
  EXPECT_EQ(TextOf(passed.Take(3)), "gone");
  EXPECT_EQ(TextOf(passed.Take(2)), "abc");
}

}  // namespace
}  // namespace infeed
