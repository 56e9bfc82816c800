#include "trainer/results/metrics_log.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "trainer/results/model_dir.h"

namespace infeed {

using Json = nlohmann::ordered_json;

namespace {

Json ToJson(const EventValue& event);

// Plain values; not finite: null.
template <typename Value>
Json ToJson(const Value& value) {
  return Json(value);
}

Json ToJson(double number) {
  return std::isfinite(number) ? Json(number) : Json(nullptr);
}

Json ToJson(const EventValues& values) {
  Json object = Json::object();
  for (const EventValue& value : values) {
    object[value.name] = ToJson(value);
  }
  return object;
}

Json ToJson(const EventObjects& objects) {
  Json list = Json::array();
  for (const EventValues& values : objects) {
    list.push_back(ToJson(values));
  }
  return list;
}

Json ToJson(const EventValue& event) {
  return std::visit([](const auto& value) { return ToJson(value); },
                    event.value);
}

}  // namespace

MetricsLog::MetricsLog(const std::string& model_dir)
    : file_(MetricsPath(model_dir)) {
  EndLine();
}

void MetricsLog::EndLine() {
  if (!file_.EndsWith('\n')) {
    file_.Append("\n");
  }
}

void MetricsLog::Write(const std::string& event, std::int64_t step,
                       const EventValues& values) {
  file_.FollowPath();
  EndLine();
  file_.Append(MetricsLine(UnixSeconds(), event, step, values));
}

std::string MetricsLine(double unix_seconds, std::string_view event,
                        std::int64_t step, const EventValues& values) {
  Json line = {
      {"schema", 1}, {"time", unix_seconds}, {"event", event}, {"step", step}};
  for (const EventValue& value : values) {
    if (!value.name.empty()) {
      line[value.name] = ToJson(value);
    }
  }
  // A path may have bytes that are no UTF-8.
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
