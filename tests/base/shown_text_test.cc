#include "base/shown_text.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "base/count_text.h"
#include "base/shell_word.h"

namespace infeed::shown_text_test {

using std::string_literals::operator""s;

TEST(ShownTextTest, LeavesTextOfAnyLanguageAlone) {
  for (const char* const text :
       {"", "a b", "C:\\new", "caf\xc3\xa9", "\xe7\x8c\xab", "\xf0\x9f\x90\x88",
        "\xc2\xa0"}) {
    EXPECT_EQ(ShownText(text), text);
  }
}

TEST(ShownTextTest, EscapesEveryControlCharacter) {
  for (int value = 0; value < 0x20; ++value) {
    const std::string shown = ShownText("a"s + static_cast<char>(value));
    EXPECT_EQ(shown, "a\\x"s + "0123456789abcdef"[value >> 4] +
                         "0123456789abcdef"[value & 15]);
  }
  EXPECT_EQ(ShownText("a\x7f"), "a\\x7f");
  EXPECT_EQ(ShownText("\x1b]0;title\x07\x1b[31m"),
            "\\x1b]0;title\\x07\\x1b[31m");
  for (int value = 0x80; value < 0xa0; ++value) {
    const std::string shown = ShownText("\xc2"s + static_cast<char>(value));
    EXPECT_EQ(shown.substr(0, 6), "\\xc2\\x") << value;
    EXPECT_EQ(shown.size(), 8U);
  }
}

TEST(ShownTextTest, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(ShownText("caf\xe9!"), "caf\\xe9!");
  EXPECT_EQ(ShownText("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(ShownText("\xc3"), "\\xc3");
  EXPECT_EQ(ShownText("\xc0\xaf"), "\\xc0\\xaf");           // not the shortest
  EXPECT_EQ(ShownText("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(ShownTextTest, StaysIfShownAgain) {
  for (const char* const text :
       {"a\x1b\n\x9b\xe9", "https://u:p@h/x?sig=1 caf\xc3\xa9", "\\x1b"}) {
    EXPECT_EQ(ShownText(ShownText(text)), ShownText(text));
  }
}

TEST(ShownLinesTest, KeepsLines) {
  EXPECT_EQ(ShownLines("a\x1b\nb\t\n\nc"), "a\\x1b\nb\\x09\n\nc");
  EXPECT_EQ(ShownLines("a\n"), "a\n");
  EXPECT_EQ(ShownLines(""), "");
}

TEST(ShownJsonTest, StaysJson) {
  EXPECT_EQ(ShownJson("{\"a\\u001b\": \"\xc2\x9b\x7f\xc3\x9b\"}\n"),
            "{\"a\\u001b\": \"\\u009b\\u007f\xc3\x9b\"}\n");
}

TEST(WithoutUrlSecretsTest, LeavesTextWithoutUrlsAlone) {
  for (const char* const text : {"", "--a=b", "/a/b?c", "://", "a://", "?"}) {
    EXPECT_EQ(WithoutUrlSecrets(text), text);
  }
}

TEST(WithoutUrlSecretsTest, CutsSignaturesAndPasswordsWhereverUrlsStand) {
  EXPECT_EQ(WithoutUrlSecrets("https://u:p@h/x"), "https://h/x");
  EXPECT_EQ(WithoutUrlSecrets("--data_dir=https://h/x?sig=1,2"),
            "--data_dir=https://h/x?...");
  EXPECT_EQ(WithoutUrlSecrets("{a: \"HTTPS://h/x?sig=1\", b: 2} http://h#s"),
            "{a: \"HTTPS://h/x?...\", b: 2} http://h?...");
  EXPECT_EQ(WithoutUrlSecrets("a=s3://b/k,b=https://u:p@h/x,c=http://v@i/y?z"),
            "a=s3://b/k,b=https://h/x,c=http://i/y?...");
  EXPECT_EQ(WithoutUrlSecrets("a=s3://b/k?x gs://b/#y"),
            "a=s3://b/k?x gs://b/#y");  // Parts of the keys.
}

TEST(WithoutUrlSecretsTest, CutsCredentialsOfBuckets) {
  EXPECT_EQ(WithoutUrlSecrets("'s3://KEY:SECRET@b/k' is"), "'s3://b/k' is");
  EXPECT_EQ(WithoutUrlSecrets("--d=S3://KEY:SEC/RET+@b/k"), "--d=S3://b/k");
  EXPECT_EQ(WithoutUrlSecrets("gs://K:S/E@C@b/k"), "gs://b/k");
  EXPECT_EQ(WithoutUrlSecrets("s3://KEY@b/k"), "s3://b/k");
  EXPECT_EQ(WithoutUrlSecrets("https://u:p/q@h/x"), "https://h/x");
  // However the URL was damaged on its way.
  EXPECT_EQ(WithoutUrlSecrets("s3:/KEY:SECRET@b/k"), "s3:/b/k");
  EXPECT_EQ(WithoutUrlSecrets("/home/me/s3:/KEY:SEC/RET@b"), "/home/me/s3:/b");
  EXPECT_EQ(WithoutUrlSecrets("s3:///KEY:SECRET@b"), "s3:///b");
  EXPECT_EQ(WithoutUrlSecrets("s3:KEY:SECRET@b: is"), "s3:b: is");
  EXPECT_EQ(WithoutUrlSecrets("https:/u:p@h/x?y"), "https:/h/x?...");
  // Quotes and question marks in secrets.
  EXPECT_EQ(WithoutUrlSecrets("'s3://KEY:SE\"CR'ET@b/k': is"),
            "'s3://b/k': is");
  EXPECT_EQ(WithoutUrlSecrets("s3://KEY:S@E\"C@b/k"), "s3://b/k");
  EXPECT_EQ(WithoutUrlSecrets("https://u:p?q'r@h/x?y"), "https://h/x?...");
  EXPECT_EQ(WithoutUrlSecrets(R"(["s3://K:S@b","gs://K:S@c"])"),
            R"(["s3://b","gs://c"])");
  EXPECT_EQ(UrlForMessages("https://u:p?q@h/x?y"), "https://h/x");
  // Names of objects and ports are no credentials.
  for (const char* const url :
       {"s3://b/k@l", "s3://b/a:b@c", "https://h:80/a@b", "http://[::1]/a@b",
        "\"s3://b/a:b\",\"c@d\"", "s3: cannot ask a@b",
        "https://h:8080: refused 'a@b'", "data:/a:b@c"}) {
    EXPECT_EQ(WithoutUrlSecrets(url), url);
  }
}

TEST(CountTextTest, HasASingularAndAPlural) {
  EXPECT_EQ(CountText(0, "image"), "0 images");
  EXPECT_EQ(CountText(std::int64_t{1}, "image"), "1 image");
  EXPECT_EQ(CountText(std::size_t{2}, "image"), "2 images");
  EXPECT_EQ(CountText(1, "class", "classes"), "1 class");
  EXPECT_EQ(CountText(2, "class", "classes"), "2 classes");
}

TEST(ShellWordTest, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(ShellWord("runs/a-1_%=.jpg"), "runs/a-1_%=.jpg");
  EXPECT_EQ(ShellWord("my runs"), "'my runs'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a\nb"), "'a?b'");
}

}  // namespace infeed::shown_text_test
