#include "tools/cli/report_table.h"

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(TextTableTest, AlignsByCharactersNotByBytes) {
  TextTable table({"name", ">count", "note"});
  table.Add({"ros\xC3\xA9", "7", ""});
  table.Add({"a", "1000", "x"});
  EXPECT_EQ(table.Text(),
            "name  count  note\n"
            "ros\xC3\xA9      7\n"
            "a      1000  x\n");
}

TEST(TextTableTest, EscapesControlCharactersOfCells) {
  TextTable table({"name", ">count"});
  table.Add({"a\x1b[31m\n\xc2\x9b", "7"});
  EXPECT_EQ(table.Text(),
            "name                   count\n"
            "a\\x1b[31m\\x0a\\xc2\\x9b      7\n");
}

TEST(TextTableTest, ShowsShares) {
  EXPECT_EQ(PercentText(1, 8), "12.5 %");
  EXPECT_EQ(PercentText(1, 0), "-");
}

TEST(TextTableTest, ShortensTextBetweenCharacters) {
  EXPECT_EQ(ShortText("ros\xC3\xA9s", 4), "ros\xC3\xA9\xE2\x80\xA6");
  EXPECT_EQ(ShortText("rose", 4), "rose");
  EXPECT_EQ(ShortText("a\nb\x1b", 20), "a\\x0ab\\x1b");
}

}  // namespace
}  // namespace infeed
