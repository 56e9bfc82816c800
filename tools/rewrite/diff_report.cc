#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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

ReportTable DiffReportTable(const DiffReport& report) {
  std::vector<ReportTable> first;
  for (const RecordDifference& difference : report.first) {
    Json keys = Json::object();
    for (const KeyDifference& key : difference.keys) {
      keys[key.key] = KindText(key.kind);
    }
    first.push_back({{"a", PlaceJson(difference.a)},
                     {"b", PlaceJson(difference.b)},
                     {"keys", std::move(keys), MakeLine(difference)}});
  }
  const std::int64_t more = report.differences - std::ssize(first);
  const std::int64_t left_out = report.left_out;
  return {
      ListRow("first", first),
      {"", {}, more > 0 ? fmt::format("... and {} more\n", more) : ""},
      {"left_out", left_out,
       left_out > 0 ? CountText(left_out, "bad record") + " left out\n" : ""},
      {"records_a", report.records_a,
       CountText(report.records_a, "record") + " in A, "},
      {"records_b", report.records_b,
       fmt::format("{} in B, ", report.records_b)},
      {"same", report.differences == 0},
      {"differences", report.differences,
       (report.differences == 0
            ? std::string("the same")
            : CountText(report.differences, "differs", "differ")) +
           "\n"}};
}

}  // namespace infeed
