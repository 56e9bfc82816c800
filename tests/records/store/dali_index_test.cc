#include "records/store/dali_index.h"

#include <string>

#include "base/error.h"
#include "tests/support/record_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kText = "0 17\n17 21\n38 16\n";

MemorySource Shard() {
  return {"s", RecordFile().Add("a").Add("hello").Add("").bytes()};
}

TEST(DaliIndexTest, HasALineForEachFrame) {
  const MemorySource shard = Shard();
  EXPECT_EQ(DaliIndexText(ScanFrames(shard, 100), shard.size()), kText);
  EXPECT_EQ(DaliIndexText({}, 0), "");
}

TEST(DaliIndexTest, GivesTheOffsetsBack) {
  const FrameOffsets offsets = {0, 17, 38};
  EXPECT_EQ(ParseDaliIndex(kText, "i", Shard()), offsets);
  EXPECT_EQ(ParseDaliIndex("0 17\r\n17 21\r\n38 16", "i", Shard()), offsets);
  EXPECT_EQ(ParseDaliIndex("", "i", MemorySource("s", "")), FrameOffsets());
}

void ExpectRefused(const std::string& text, const std::string& why) {
  EXPECT_THAT([&] { (void)ParseDaliIndex(text, "i", Shard()); },
              ThrowsMessage<DataError>(HasSubstr(why)))
      << text;
}

TEST(DaliIndexTest, NamesTheLineThatDoesNotFit) {
  ExpectRefused("0 17\n17\n", "i: line 2: expected an offset, a space");
  ExpectRefused("0 17\n\n", "i: line 2: expected an offset");
  ExpectRefused("0 17 \n17 21 1\n", "i: line 2: expected an offset");
  ExpectRefused("0 x\n", "i: line 1: expected an offset");
  ExpectRefused("0 99999999999999999999\n", "i: line 1: expected an offset");
  ExpectRefused("0 17\n18 21\n", "line 2: record 1 should be at byte 17");
  ExpectRefused("0 18\n", "line 1: no record of 18 bytes at byte 0 of s");
  ExpectRefused("0 -17\n", "line 1: no record of -17 bytes");
  ExpectRefused("0 17\n17 21\n", "i: ends at byte 38, but s has 54");
}

}  // namespace
}  // namespace infeed
