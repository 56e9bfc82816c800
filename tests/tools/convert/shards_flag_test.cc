#include "tools/convert/shards_flag.h"

#include <string>

#include "base/error.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;

TEST(ShardsFlagTest, TakesANumberASizeOrNeither) {
  EXPECT_EQ(ParseShards("auto").shards, 0);
  EXPECT_EQ(ParseShards("auto").bytes, 0);
  EXPECT_EQ(ParseShards("64").shards, 64);
  EXPECT_EQ(ParseShards("64").bytes, 0);
  EXPECT_EQ(ParseShards("256MB").bytes, 256'000'000);
  EXPECT_EQ(ParseShards("1kB").bytes, 1000);
  EXPECT_EQ(ParseShards("2GiB").bytes, std::int64_t{2} << 30);
  EXPECT_EQ(ParseShards("1TB").shards, 0);
}

TEST(ShardsFlagTest, RefusesEverythingElse) {
  for (const char* text : {"", "0", "-1", "0MB", "MB", "1mb", "1.5GB", "some",
                           "99999999TB", "1MBs"}) {
    EXPECT_THAT(
        [&] { (void)ParseShards(text); },
        ::testing::ThrowsMessage<UsageError>(HasSubstr("256MB or 1GiB")))
        << text;
  }
}

}  // namespace
}  // namespace infeed
