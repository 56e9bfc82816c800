#include "tools/images/csv.h"

#include <algorithm>

#include "base/error.h"
#include "records/bytes/plain_text.h"

namespace infeed {
CsvReader::CsvReader(std::string_view text, char separator)
    : text_(WithoutMark(text)), separator_(separator) {}

bool CsvReader::Next(std::vector<std::string>& fields) {
  fields.clear();
  SkipEmptyLines();
  line_ = next_line_;
  if (text_.empty()) {
    return false;
  }
  fields.push_back(Field());
  while (text_.starts_with(separator_)) {
    text_.remove_prefix(1);
    fields.push_back(Field());
  }
  TakeLineEnd();
  return true;
}

void CsvReader::SkipEmptyLines() {
  while (!text_.empty() && AtLineEnd()) {
    TakeLineEnd();
  }
}

void CsvReader::TakeLineEnd() {
  if (!text_.empty()) {
    text_.remove_prefix(text_.starts_with('\r') ? 2 : 1);
    ++next_line_;
  }
}

std::string CsvReader::Field() {
  if (text_.starts_with('"')) {
    return QuotedField();
  }
  std::size_t end = std::min(text_.find(separator_), text_.find('\n'));
  end = std::min(end, text_.size());
  if (end > 0 && end < text_.size() && text_[end] == '\n' &&
      text_[end - 1] == '\r') {
    --end;
  }
  std::string field(text_.substr(0, end));
  text_.remove_prefix(end);
  return field;
}

std::string CsvReader::QuotedField() {
  std::string field;
  do {
    text_.remove_prefix(1);  // the opening quote, or the second of two
    const std::size_t quote = text_.find('"');
    if (quote == std::string_view::npos) {
      throw DataError("line " + std::to_string(line_) +
                      ": a quote is not closed");
    }
    field.append(text_.substr(0, quote + 1));
    text_.remove_prefix(quote + 1);
  } while (text_.starts_with('"'));
  field.pop_back();  // the closing quote
  next_line_ += std::count(field.begin(), field.end(), '\n');
  if (!AtLineEnd() && !text_.starts_with(separator_)) {
    throw DataError("line " + std::to_string(line_) +
                    ": there is text after a closing quote");
  }
  return field;
}

}  // namespace infeed
