#include "records/bytes/payload.h"

#include <cstdint>
#include <limits>
#include <string>

#include "base/number_bytes.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(PayloadTest, NumbersAreReadBack) {
  std::string payload;
  AppendNumbers(payload, {{-1, 0}});
  AppendNumbers(payload, {{kMost}});
  EXPECT_THAT(ParseNumbers(payload), Optional(ElementsAre(-1, 0, kMost)));
  EXPECT_THAT(ParseNumbers(""), Optional(ElementsAre()));
  EXPECT_FALSE(ParseNumbers(payload + "1234567").has_value());
}

TEST(PayloadTest, VarintsAndTextsAreReadBack) {
  std::string payload;
  AppendVarint(std::numeric_limits<std::uint64_t>::max(), payload);
  AppendVarint(7, payload);
  AppendVarint(2, payload);
  AppendSizedText(payload, "one");
  AppendSizedText(payload, "");
  PayloadReader from(payload);
  EXPECT_EQ(from.Number(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(from.NumberUpTo(7), 7);
  EXPECT_EQ(from.Count(2), 2U);
  EXPECT_EQ(from.Text(), "one");
  EXPECT_FALSE(from.IsAtEnd());
  EXPECT_EQ(from.Text(), "");
  EXPECT_TRUE(from.IsAtEnd());
}

TEST(PayloadTest, AFaultEndsTheReading) {
  const std::string eleven_bytes(10, '\x80');
  for (const std::string& payload :
       {std::string(), std::string("\x80"), eleven_bytes + '\1'}) {
    PayloadReader from(payload);
    EXPECT_EQ(from.Number(), 0U);
    EXPECT_FALSE(from.is_good());
    EXPECT_EQ(from.Text(), "");
    EXPECT_FALSE(from.IsAtEnd());
  }
  PayloadReader large("\3abc");
  EXPECT_EQ(large.NumberUpTo(2), 0);
  EXPECT_FALSE(large.is_good());
  PayloadReader many("\3abcde");
  EXPECT_EQ(many.Count(2), 0U);
  EXPECT_FALSE(many.is_good());
  PayloadReader cut("\4abc");
  EXPECT_EQ(cut.Text(), "");
  EXPECT_FALSE(cut.is_good());
}

}  // namespace
}  // namespace infeed
