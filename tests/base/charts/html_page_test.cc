#include "base/charts/html_page.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(HtmlTableTest, HasARowForEach) {
  EXPECT_EQ(HtmlTable({"a", "b"}, {{"1", "2"}, {"3", "4"}}, "text"),
            "<table class=\"text\">\n<tr><th>a</th><th>b</th></tr>\n"
            "<tr><td>1</td><td>2</td></tr>\n<tr><td>3</td><td>4</td></tr>\n"
            "</table>\n");
  // A column of dashes and what is empty are left out.
  EXPECT_EQ(HtmlTable({"a", "b", "c"}, {{"1", "-", "-"}, {"2", "-", "3"}}),
            "<table class=\"\">\n<tr><th>a</th><th>c</th></tr>\n"
            "<tr><td>1</td><td>-</td></tr>\n<tr><td>2</td><td>3</td></tr>\n"
            "</table>\n");
  EXPECT_EQ(HtmlTable({"a"}, {}), "");
  EXPECT_EQ(HtmlDetails("more", ""), "");
  EXPECT_EQ(HtmlCard({"more", ""}), "");
}

// The class of each box and each group of tiles, in their order.
std::string ClassesIn(const std::string& html, const std::string& before) {
  std::string classes;
  for (std::size_t at = html.find(before); at != std::string::npos;
       at = html.find(before, at + 1)) {
    const std::size_t begin = at + before.size();
    classes += "[" + html.substr(begin, html.find('"', begin) - begin) + "]";
  }
  return classes;
}

std::string KindsOf(const std::string& kinds) {
  std::vector<HtmlBox> boxes;
  for (const char kind : kinds) {
    boxes.push_back({"t", kind == '0' ? "" : "c", kind == 'w' ? "wide" : ""});
  }
  return ClassesIn(HtmlCards(boxes), "class=\"card ");
}

TEST(HtmlCardsTest, NoneIsAloneInHalfARow) {
  EXPECT_EQ(KindsOf("nn"), "[][]");
  EXPECT_EQ(KindsOf("n"), "[wide lone]");
  EXPECT_EQ(KindsOf("nnnwnn"), "[][][wide lone][wide][][]");
  EXPECT_EQ(KindsOf("nn0n0wn"), "[][][wide lone][wide][wide lone]");
}

TEST(HtmlTilesTest, StayInGroups) {
  const auto groups = [](std::size_t count) {
    return ClassesIn(
        HtmlTiles(std::vector<std::string>(count, HtmlTile("1", "a"))),
        "<div class=\"");
  };
  const std::string tile = "[tile]";
  EXPECT_EQ(groups(2), "[tiles][pair]" + tile + tile);
  EXPECT_EQ(groups(5),
            "[tiles][pair]" + tile + tile + "[three]" + tile + tile + tile);
}

TEST(HtmlPageTest, HasTheReadersColours) {
  EXPECT_THAT(HtmlPage("a", "b"),
              testing::HasSubstr("\n@media (prefers-color-scheme: dark) {"));
}

TEST(Base64Test, PadsTheEnd) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foob\xFF\xFE"), "Zm9vYv/+");
}

}  // namespace
}  // namespace infeed
