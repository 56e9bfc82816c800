#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.h"
#include "tools/rewrite/record_diff.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

std::string_view KindText(KeyDifference::Kind kind) {
  switch (kind) {
    case KeyDifference::Kind::kOnlyInA:
      return "only in A";
    case KeyDifference::Kind::kOnlyInB:
      return "only in B";
    case KeyDifference::Kind::kOtherValues:
      return "differs";
  }
  return "";
}

std::string PlaceText(const DataError::Origin& place) {
  return fmt::format("{}: record {} at byte {}", place.path, place.record,
                     place.offset);
}

std::string MakeLine(const RecordDifference& difference) {
  if (!difference.b) {
    return "only in A: " + PlaceText(*difference.a) + "\n";
  }
  if (!difference.a) {
    return "only in B: " + PlaceText(*difference.b) + "\n";
  }
  std::string line =
      PlaceText(*difference.a) + " and " + PlaceText(*difference.b);
  std::string_view separator = ": ";
  for (const KeyDifference& key : difference.keys) {
    line.append(separator).append(key.key).append(" ").append(
        KindText(key.kind));
    separator = ", ";
  }
  return line + (difference.keys.empty() ? ": other bytes\n" : "\n");
}

Json PlaceJson(const std::optional<DataError::Origin>& place) {
  return place ? Json{{"file", place->path},
                      {"record", place->record},
                      {"offset", place->offset}}
               : Json();
}

}  // namespace

std::string DiffReportText(const DiffReport& report) {
  std::string text;
  for (const RecordDifference& difference : report.first) {
    text += MakeLine(difference);
  }
  const auto named = static_cast<std::int64_t>(report.first.size());
  if (named < report.differences) {
    text += fmt::format("... and {} more\n", report.differences - named);
  }
  if (report.left_out > 0) {
    text += CountText(report.left_out, "bad record") + " left out\n";
  }
  return text +
         fmt::format("{} in A, {} in B, {}\n",
                     CountText(report.records_a, "record"), report.records_b,
                     report.differences == 0
                         ? std::string("the same")
                         : CountText(report.differences, "differs", "differ"));
}

std::string DiffReportJson(const DiffReport& report) {
  Json first = Json::array();
  for (const RecordDifference& difference : report.first) {
    Json keys = Json::object();
    for (const KeyDifference& key : difference.keys) {
      keys[key.key] = KindText(key.kind);
    }
    first.push_back({{"a", PlaceJson(difference.a)},
                     {"b", PlaceJson(difference.b)},
                     {"keys", std::move(keys)}});
  }
  const Json json = {
      {"same", report.differences == 0},   {"records_a", report.records_a},
      {"records_b", report.records_b},     {"left_out", report.left_out},
      {"differences", report.differences}, {"first", std::move(first)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
