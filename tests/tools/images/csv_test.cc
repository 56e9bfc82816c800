#include "tools/images/csv.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {
namespace csv_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Rows = std::vector<std::vector<std::string>>;

Rows RowsOf(std::string_view text, char separator = ',') {
  CsvReader reader(text, separator);
  Rows rows;
  std::vector<std::string> fields;
  while (reader.Next(fields)) {
    rows.push_back(fields);
  }
  return rows;
}

std::vector<std::int64_t> LinesOf(std::string_view text) {
  CsvReader reader(text, ',');
  std::vector<std::int64_t> lines;
  std::vector<std::string> fields;
  while (reader.Next(fields)) {
    lines.push_back(reader.line());
  }
  return lines;
}

std::string ErrorOf(std::string_view text) {
  return MessageOf<DataError>([&] { (void)RowsOf(text); });
}

TEST(CsvTest, ReadsRowsWithAndWithoutALastLineEnd) {
  EXPECT_EQ(RowsOf("a,b\nc,d"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(RowsOf("a,b\r\nc,d\r\n"), (Rows{{"a", "b"}, {"c", "d"}}));
}

TEST(CsvTest, KeepsEmptyFieldsAndBlanks) {
  EXPECT_EQ(RowsOf(",a,\n, b ,\n"), (Rows{{"", "a", ""}, {"", " b ", ""}}));
  EXPECT_EQ(RowsOf("\"\",\"\"\n"), (Rows{{"", ""}}));
}

TEST(CsvTest, ReadsQuotedFields) {
  EXPECT_EQ(RowsOf("\"a,b\",\"say \"\"hi\"\"\",c\r\n\"x\ny\",\"\"\"\"\n"),
            (Rows{{"a,b", "say \"hi\"", "c"}, {"x\ny", "\""}}));
}

TEST(CsvTest, TakesAQuoteInsideAFieldAsALetter) {
  EXPECT_EQ(RowsOf("5\" disk,a\"b\"\n"), (Rows{{"5\" disk", "a\"b\""}}));
}

TEST(CsvTest, SeparatesByTabs) {
  EXPECT_EQ(RowsOf("a,b\t\"c\td\"\n", '\t'), (Rows{{"a,b", "c\td"}}));
}

TEST(CsvTest, PassesOverEmptyLinesAndAByteOrderMark) {
  EXPECT_EQ(RowsOf("\xef\xbb\xbf\r\na\n\n\nb\n\n"), (Rows{{"a"}, {"b"}}));
  EXPECT_THAT(RowsOf("\n\n"), IsEmpty());
  EXPECT_THAT(RowsOf(""), IsEmpty());
}

TEST(CsvTest, KeepsACarriageReturnInsideALine) {
  EXPECT_EQ(RowsOf("a\rb\r\n\r"), (Rows{{"a\rb"}, {"\r"}}));
}

TEST(CsvTest, CountsLinesInsideQuotes) {
  EXPECT_THAT(LinesOf("a\n\n\"b\n\nc\",d\ne\n"), ElementsAre(1, 3, 6));
}

TEST(CsvTest, RefusesAQuoteThatIsNotClosed) {
  EXPECT_EQ(ErrorOf("a\n\"b,c\nd\n"), "line 2: a quote is not closed");
  EXPECT_EQ(ErrorOf("\""), "line 1: a quote is not closed");
}

TEST(CsvTest, RefusesTextAfterAClosingQuote) {
  EXPECT_EQ(ErrorOf("\"a\"b\n"), "line 1: there is text after a closing quote");
}

}  // namespace csv_test
}  // namespace infeed
