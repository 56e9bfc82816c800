#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

// Reads rows of separated values, quoted as in RFC 4180: "a,b", "a ""b"""; a
// quoted field may contain separators and line ends. A quote inside an unquoted
// field is an ordinary character. Lines end with LF or CRLF; empty lines and a
// byte order mark are skipped.
//
// Borrows the text. One thread at a time. Throws DataError for a quote that is
// not closed and for text after a closing quote.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator);

  // Returns false at the end. Otherwise line() is the number of the row's first
  // line, from 1.
  [[nodiscard]] bool Next(std::vector<std::string>& fields);
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  void SkipEmptyLines();
  [[nodiscard]] bool AtLineEnd() const {
    return text_.empty() || text_.starts_with('\n') ||
           text_.starts_with("\r\n");
  }
  void TakeLineEnd();
  std::string Field();
  std::string QuotedField();

  std::string_view text_;
  char separator_;
  std::int64_t line_ = 1;
  std::int64_t next_line_ = 1;
};

}  // namespace infeed
