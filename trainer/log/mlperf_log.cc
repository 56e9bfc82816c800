#include "trainer/log/mlperf_log.h"

#include <nlohmann/json.hpp>

#include "base/own_files.h"

namespace infeed {
namespace {

nlohmann::ordered_json ToJson(const MlperfLog::Value& value) {
  return std::visit(
      [](const auto& plain) { return nlohmann::ordered_json(plain); }, value);
}

// The file's name without folders, which differ between builds.
std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

MlperfLog::MlperfLog(const std::string& path) {
  if (!path.empty()) {
    file_.emplace(path, kNamedByUser);
    if (!file_->EndsWith('\n')) {
      file_->Append("\n");
    }
  }
}

void MlperfLog::Point(std::string_view key, const Value& value,
                      const Metadata& metadata, const SourceLine& where) {
  if (file_) {
    file_->Append(
        MlperfLine(Clock::now(), "POINT_IN_TIME", key, value, metadata, where));
  }
}

void MlperfLog::Start(std::string_view key, const Metadata& metadata,
                      std::optional<Clock::time_point> time,
                      const SourceLine& where) {
  if (file_) {
    file_->Append(MlperfLine(time.value_or(Clock::now()), "INTERVAL_START", key,
                             std::nullopt, metadata, where));
  }
}

void MlperfLog::End(std::string_view key, const Metadata& metadata,
                    const SourceLine& where) {
  if (file_) {
    file_->Append(MlperfLine(Clock::now(), "INTERVAL_END", key, std::nullopt,
                             metadata, where));
  }
}

std::string MlperfLine(MlperfLog::Clock::time_point time,
                       std::string_view event_type, std::string_view key,
                       const std::optional<MlperfLog::Value>& value,
                       const MlperfLog::Metadata& metadata,
                       const SourceLine& where) {
  using std::chrono::milliseconds;
  nlohmann::ordered_json line = {
      {"namespace", ""},
      {"time_ms",
       std::chrono::duration_cast<milliseconds>(time.time_since_epoch())
           .count()},
      {"event_type", event_type},
      {"key", key},
      {"value", value ? ToJson(*value) : nullptr},
      {"metadata", {{"file", FileName(where.file)}, {"lineno", where.line}}}};
  for (const auto& [name, one] : metadata) {
    line["metadata"][name] = ToJson(one);
  }
  return ":::MLLOG " +
         line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace infeed
