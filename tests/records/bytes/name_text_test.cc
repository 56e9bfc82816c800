#include "records/bytes/name_text.h"

#include <string>

#include "records/bytes/plain_text.h"

#include "gtest/gtest.h"

namespace infeed {
namespace name_text_test {

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

}  // namespace name_text_test
}  // namespace infeed
