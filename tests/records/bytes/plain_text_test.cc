#include "records/bytes/plain_text.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace infeed {
namespace {

TEST(PlainTextTest, KnowsUtf8) {
  for (const std::string_view good :
       {"", "a cat", "k\xC3\xA4se", "\xE2\x82\xAC", "\xF0\x9F\x90\x88",
        "\xF4\x8F\xBF\xBF", "line\n"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  // Latin-1, cut short, longer than needed, a surrogate, beyond the last.
  for (const std::string_view bad :
       {"k\xE4se", "\x80", "\xC3", "\xE2\x82", "\xC0\xAF", "\xE0\x80\xAF",
        "\xF0\x80\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
}

TEST(PlainTextTest, FindsControlCharacters) {
  EXPECT_FALSE(HasControl("a cat, k\xC3\xA4se"));
  for (const std::string_view bad :
       {std::string_view("a\nb"), std::string_view("a\tb"),
        std::string_view("\x1b[31m"), std::string_view("\0", 1),
        std::string_view("\x7f")}) {
    EXPECT_TRUE(HasControl(bad));
  }
}

TEST(NameTextTest, KeepsWhatIsComposed) {
  for (const std::string text :
       {"", "a cat", "K\xC3\xA4se", "\xE7\x8C\xAB", "\xF0\x9F\x90\x88"}) {
    EXPECT_EQ(NameText(text), text);
  }
}

TEST(NameTextTest, WritesOtherBytesInHexadecimal) {
  EXPECT_EQ(NameText("K\xE4se"), "K\\xe4se");
  EXPECT_EQ(NameText("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(AsUtf8("e\xCC\x81 \x80"), "e\xCC\x81 \\x80");
}

TEST(NameTextTest, ComposesWhatAMacTakesApart) {
  EXPECT_EQ(NameText("cafe\xCC\x81"), "caf\xC3\xA9");
  // A letter with two marks.
  EXPECT_EQ(NameText("e\xCC\xA3\xCC\x82"), "\xE1\xBB\x87");
  // Japanese, Korean (three parts of a syllable), Russian.
  EXPECT_EQ(NameText("\xE3\x81\x8B\xE3\x82\x99"), "\xE3\x81\x8C");
  EXPECT_EQ(NameText("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), "\xED\x95\x9C");
  EXPECT_EQ(NameText("\xD0\xB8\xCC\x86"), "\xD0\xB9");
  // The sign for Angstrom is the letter.
  EXPECT_EQ(NameText("\xE2\x84\xAB"), "\xC3\x85");
}

}  // namespace
}  // namespace infeed
