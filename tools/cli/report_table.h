#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// A report is written once, as rows, and printed in two forms: text for people
// and JSON for programs.
namespace infeed {

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
