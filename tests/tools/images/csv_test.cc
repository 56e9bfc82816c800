#include "tools/images/csv.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::csv_test {

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

TEST(CsvTest, ReadsRows) {
  const std::pair<const char*, Rows> cases[] = {
      {"a,b\nc,d", {{"a", "b"}, {"c", "d"}}},
      {"a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
      {",a,\n, b ,\n", {{"", "a", ""}, {"", " b ", ""}}},
      {"\"\",\"\"\n", {{"", ""}}},
      {"\"a,b\",\"say \"\"hi\"\"\",c\r\n\"x\ny\",\"\"\"\"\n",
       {{"a,b", "say \"hi\"", "c"}, {"x\ny", "\""}}},
      {"5\" disk,a\"b\"\n", {{"5\" disk", "a\"b\""}}},
      {"\xef\xbb\xbf\r\na\n\n\nb\n\n", {{"a"}, {"b"}}},
      {"\n\n", {}},
      {"", {}},
      {"a\rb\r\n\r", {{"a\rb"}, {"\r"}}}};
  for (const auto& [text, rows] : cases) {
    EXPECT_EQ(RowsOf(text), rows) << text;
  }
  EXPECT_EQ(RowsOf("a,b\t\"c\td\"\n", '\t'), (Rows{{"a,b", "c\td"}}));
}

TEST(CsvTest, CountsLinesInsideQuotes) {
  EXPECT_THAT(LinesOf("a\n\n\"b\n\nc\",d\ne\n"), ElementsAre(1, 3, 6));
}

TEST(CsvTest, RefusesAQuoteThatIsNotClosed) {
  EXPECT_EQ(ErrorOf("a\n\"b,c\nd\n"), "line 2: a quote is not closed");
  EXPECT_EQ(ErrorOf("\""), "line 1: a quote is not closed");
  EXPECT_EQ(ErrorOf("\"a\"b\n"), "line 1: there is text after a closing quote");
}

}  // namespace infeed::csv_test
