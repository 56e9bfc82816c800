#include "base/charts/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infeed {
namespace {

TEST(HtmlTableTest, HasARowForEach) {
  EXPECT_EQ(HtmlTable({"a", "b"}, {{"1", "2"}, {"3", "4"}}, "text"),
            "<table class=\"text\">\n<tr><th>a</th><th>b</th></tr>\n"
            "<tr><td>1</td><td>2</td></tr>\n<tr><td>3</td><td>4</td></tr>\n"
            "</table>\n");
}

TEST(HtmlPageTest, HasTheReadersColours) {
  EXPECT_THAT(HtmlPage("a", "b"),
              testing::HasSubstr("\n@media (prefers-color-scheme: dark) {"));
}

TEST(HtmlPageTest, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(HtmlTable({"a"}, {}), "");
  EXPECT_EQ(HtmlDetails("more", ""), "");
  EXPECT_EQ(HtmlCard("more", ""), "");
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
