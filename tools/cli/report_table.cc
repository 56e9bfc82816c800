#include "tools/cli/report_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/json.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const ReportTable& report) {
  Json json = Json::object();
  for (const ReportRow& row : report) {
    if (!row.key.empty()) {
      json[row.key] = row.value;
    }
  }
  return json;
}

}  // namespace

std::string RenderText(const ReportTable& report) {
  std::string text;
  for (const ReportRow& row : report) {
    text += row.text;
  }
  return text;
}

std::string RenderJson(const ReportTable& report) {
  return JsonText(ToJson(report), 2) + "\n";
}

ReportRow ObjectRow(const std::string& key, const ReportTable& rows) {
  return {key, ToJson(rows), RenderText(rows)};
}

ReportRow ListRow(const std::string& key,
                  const std::vector<ReportTable>& items) {
  ReportRow row = {.key = key, .value = Json::array()};
  for (const ReportTable& item : items) {
    row.value.push_back(ToJson(item));
    row.text += RenderText(item);
  }
  return row;
}

ReportRow TableRow(const std::string& key,
                   const std::vector<std::string>& columns,
                   const std::vector<ReportTable>& items,
                   const std::vector<std::string>& last) {
  ReportRow row = ListRow(key, items);
  TextTable table(columns);
  for (const ReportTable& item : items) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      cells.push_back(item.at(i).text);
    }
    table.Add(std::move(cells));
  }
  if (!last.empty()) {
    table.Add(last);
  }
  row.text = table.Text();
  return row;
}

namespace {

bool StartsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// The number of characters of UTF-8 text.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), StartsCharacter));
}

}  // namespace

TextTable::TextTable(const std::vector<std::string>& columns) {
  std::vector<std::string> names;
  for (const std::string& column : columns) {
    right_.push_back(column.starts_with('>'));
    names.push_back(column.substr(right_.back() ? 1 : 0));
  }
  rows_.push_back(std::move(names));
}

void TextTable::Add(std::vector<std::string> cells) {
  Check(cells.size() == right_.size(), "a row has a cell for each column");
  std::ranges::transform(cells, cells.begin(), ShownText);
  rows_.push_back(std::move(cells));
}

std::string TextTable::Text() const {
  std::vector<std::size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - WidthOf(row[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += right_[i] ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string PercentText(std::int64_t part, std::int64_t whole) {
  if (whole == 0) {
    return "-";
  }
  return fmt::format(
      "{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string ShortText(std::string_view text, std::size_t max_characters) {
  std::string shown;
  std::size_t characters = 0;
  for (const char byte : ShownText(text)) {
    if (StartsCharacter(byte) && ++characters > max_characters) {
      return shown + "\xE2\x80\xA6";
    }
    shown += byte;
  }
  return shown;
}

}  // namespace infeed
