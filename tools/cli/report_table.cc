#include "tools/cli/report_table.h"

#include <utility>

#include "records/bytes/json.h"
#include "tools/cli/text_table.h"

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

}  // namespace infeed
