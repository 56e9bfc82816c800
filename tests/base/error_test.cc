#include "base/error.h"

#include <cerrno>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(ErrorTest, IoErrorNamesPathActionReasonAndAdvice) {
  const IoError error("DIR/a", "write", ENOSPC);
  EXPECT_THAT(error.what(), HasSubstr("DIR/a: cannot write: No space left"));
  EXPECT_THAT(error.what(), HasSubstr("free some space"));
  EXPECT_EQ(error.errno_value(), ENOSPC);
}

TEST(ErrorTest, DataErrorNamesFileRecordAndOffset) {
  const DataError error =
      DataError("payload checksum differs").At({"DIR/shard", 17, 4242});
  EXPECT_STREQ(error.what(),
               "DIR/shard: record 17 at byte 4242: payload checksum differs");
  EXPECT_EQ(error.reason(), "payload checksum differs");
  EXPECT_EQ(error.origin().record, 17);
}

TEST(ErrorTest, DataErrorLeavesOutWhatIsNotKnown) {
  EXPECT_STREQ(DataError({"f", -1, -1}, "bad").what(), "f: bad");
  EXPECT_STREQ(DataError({"f", -1, 3}, "bad").what(), "f: at byte 3: bad");
}

TEST(ErrorDeathTest, CheckAbortsWithPlaceAndReason) {
  Check(true, "holds");
  EXPECT_DEATH(Check(false, "one and one is two"),
               "error_test.cc.*one and one is two");
}

}  // namespace
}  // namespace infeed
