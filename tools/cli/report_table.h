#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// Text for people: aligned columns and rounded numbers. A report is written
// once, as rows, and printed in two forms: such text, and JSON for programs.
namespace infeed {

// Columns as wide as their widest cell, two spaces apart. Columns whose name
// starts with '>' are aligned to the right, the others to the left.
class TextTable {
 public:
  explicit TextTable(const std::vector<std::string>& columns);

  // Requires: as many cells as columns.
  void Add(std::vector<std::string> cells);
  // All rows, each with its newline; no spaces at their ends.
  [[nodiscard]] std::string Text() const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// "12.3 %"; "-" if the whole is 0.
[[nodiscard]] std::string PercentText(std::int64_t part, std::int64_t whole);

// Text without control characters, cut to a number of characters, with an
// ellipsis if it was cut.
[[nodiscard]] std::string ShortText(std::string_view text,
                                    std::size_t max_characters);

struct ReportRow {
  std::string key = {};               // in JSON; "": only in the text
  nlohmann::ordered_json value = {};  // of the key
  std::string text = {};              // with its separators; "": only in JSON
};

using ReportTable = std::vector<ReportRow>;

// The texts of all rows, one after the other.
[[nodiscard]] std::string RenderText(const ReportTable& report);

// An object of the keys and values, indented, with its newline. Bytes that are
// not UTF-8 are replaced.
[[nodiscard]] std::string RenderJson(const ReportTable& report);

// A row whose value is an object of the rows; its text is all their texts.
[[nodiscard]] ReportRow ObjectRow(const std::string& key,
                                  const ReportTable& rows);

// A row whose value is an array of the items; its text is all their texts.
[[nodiscard]] ReportRow ListRow(const std::string& key,
                                const std::vector<ReportTable>& items);

// As ListRow(), but the text is a TextTable of these columns: the texts of an
// item's first rows are its cells, and its other rows are only in JSON. `last`
// is the text of a last line's cells; none if empty.
[[nodiscard]] ReportRow TableRow(const std::string& key,
                                 const std::vector<std::string>& columns,
                                 const std::vector<ReportTable>& items,
                                 const std::vector<std::string>& last = {});

}  // namespace infeed
