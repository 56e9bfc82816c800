#include "pipeline/engine/bad_record_report.h"

#include <nlohmann/json.hpp>

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

void PutPlace(const DataError::Origin& origin, Json& json) {
  json["file"] = origin.path;
  json["record"] = origin.record;
  json["offset"] = origin.offset;
}

}  // namespace

std::string BadRecordLine(const BadRecord& bad) {
  Json json = {{"epoch", bad.epoch}, {"position", bad.position}};
  if (bad.draw > 0) {
    json["draw"] = bad.draw;
  }
  PutPlace(bad.error.origin(), json);
  json["kind"] = BadRecordKindName(bad.kind);
  json["action"] = BadRecordActionName(bad.action);
  if (bad.action == BadRecordAction::kReplaced) {
    PutPlace(bad.replaced_by, json["by"]);
  }
  json["reason"] = bad.error.reason();
  // Paths and messages may contain invalid UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string BadRecordReportPath(const InputOptions& options) {
  return options.world_size == 1 ? options.bad_record_report
                                 : options.bad_record_report + ".rank" +
                                       std::to_string(options.rank);
}

BadRecordReport::BadRecordReport(const InputOptions& options) {
  if (!options.bad_record_report.empty()) {
    file_.emplace(BadRecordReportPath(options));
  }
}

void BadRecordReport::Add(std::span<const BadRecord> records) {
  if (!file_ || records.empty()) {
    return;
  }
  std::string lines;
  for (const BadRecord& bad : records) {
    lines += BadRecordLine(bad);
  }
  file_->Append(lines);
}

}  // namespace infeed
