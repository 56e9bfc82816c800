#include "records/bytes/plain_text.h"

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

}  // namespace
}  // namespace infeed
