#include "trainer/ranks/bad_records_of_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/star_test.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

BadRecord BadAt(std::uint32_t epoch, std::int64_t position,
                std::int64_t record) {
  return {.epoch = epoch,
          .position = position,
          .record = record,
          .error = DataError({"SHARD", record, 8 * record}, "torn")};
}

class BadRecordsOfRanksTest : public StarTest {};

TEST_F(BadRecordsOfRanksTest, DifferentRecordsOfAllRanksCount) {
  Run(2, [](Ranks& ranks) {
    BadRecordsOfRanks bad(3);
    // The ranks meet record 7 in one epoch each.
    const auto rank = static_cast<std::uint32_t>(ranks.place().rank);
    bad.Note(BadAt(rank, 5, 7));
    bad.Note(BadAt(rank, 6, rank));
    bad.Meet({.epoch = 2}, ranks);
    bad.Meet({.epoch = 2, .position = 4}, ranks);
    if (rank == 1) {
      bad.Note(BadAt(2, 4, 9));
    }
    EXPECT_EQ(MessageOf<DataError>([&] { bad.Meet({.epoch = 3}, ranks); }),
              "SHARD: record 9 at byte 72: torn; it is bad record number 4 of "
              "all ranks, and max_bad_records is 3: repair the shards (records "
              "repair), or raise it");
  });
}

TEST_F(BadRecordsOfRanksTest, NameTheFirstThatIsOneTooMany) {
  Run(3, [](Ranks& ranks) {
    BadRecordsOfRanks bad(1);
    const int rank = ranks.place().rank;
    bad.Note(BadAt(0, 10 - rank, rank));
    EXPECT_THAT(MessageOf<DataError>([&] { bad.Meet({.epoch = 1}, ranks); }),
                testing::HasSubstr("record 1 at byte 8: torn"));
  });
}

// Of a pipeline that is ahead of its device. Warnings do not count.
TEST_F(BadRecordsOfRanksTest, OnlyReceivedBatchesCount) {
  Run(2, [](Ranks& ranks) {
    BadRecordsOfRanks bad(0);
    BadRecord warning = BadAt(0, 1, 1);
    warning.kind = BadRecordKind::kWarning;
    bad.Note(warning);
    if (ranks.place().rank == 1) {
      bad.Note(BadAt(0, 12, 5));
    }
    bad.Meet({.position = 12}, ranks);
    EXPECT_THROW(bad.Meet({.position = 24}, ranks), DataError);
  });
}

}  // namespace
}  // namespace infeed
