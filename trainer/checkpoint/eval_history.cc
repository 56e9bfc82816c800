#include "trainer/checkpoint/eval_history.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/json.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kHistorySchema = 1;
constexpr std::int64_t kMaxHistoryBytes = std::int64_t{64} << 20;

}  // namespace

void EvalHistory::Add(std::int64_t step, const EvalResult& result) {
  Metrics& metrics = metrics_[step];
  metrics.clear();
  for (const Metric& metric : EvalMetrics()) {
    if (const std::optional<double> value = metric.find(result)) {
      metrics.emplace(metric.name,
                      std::isfinite(*value) ? value : std::nullopt);
    }
  }
}

std::optional<double> EvalHistory::Value(std::int64_t step,
                                         std::string_view metric) const {
  const auto metrics = metrics_.find(step);
  if (metrics == metrics_.end()) {
    return std::nullopt;
  }
  const auto found = metrics->second.find(metric);
  return found == metrics->second.end() ? std::nullopt : found->second;
}

std::vector<double> EvalHistory::Values(std::string_view metric) const {
  std::vector<double> values;
  for (const auto& [step, metrics] : metrics_) {
    const auto found = metrics.find(metric);
    values.push_back(found != metrics.end() && found->second
                         ? *found->second
                         : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

std::string EvalHistory::ToJson() const {
  Json evaluations = Json::array();
  for (const auto& [step, metrics] : metrics_) {
    Json one = {{"step", step}};
    for (const auto& [name, value] : metrics) {
      one[name] = value ? Json(*value) : Json();
    }
    evaluations.push_back(one);
  }
  return Json{{"schema", kHistorySchema},
              {"validation", validation_},
              {"evaluations", evaluations}}
             .dump() +
         "\n";
}

EvalHistory EvalHistory::Parse(const std::string& text) {
  EvalHistory history;
  try {
    const Json json = ParseJson<Json>(text);
    if (json.at("schema").get<int>() != kHistorySchema) {
      throw DataError(
          "its schema is unknown: it was written by another version");
    }
    history.validation_ = json.value("validation", "");
    for (const Json& one : json.at("evaluations")) {
      Metrics& metrics = history.metrics_[one.at("step").get<std::int64_t>()];
      for (const auto& [name, value] : one.items()) {
        if (name != "step") {
          metrics[name] = value.is_null() ? std::nullopt
                                          : std::optional(value.get<double>());
        }
      }
    }
  } catch (const Json::exception& error) {
    throw DataError(
        fmt::format("not a training's evaluations: {}; move it away to count "
                    "evaluations from now on",
                    JsonFault(error)));
  }
  return history;
}

EvalHistory ReadEvalHistory(const std::string& model_dir,
                            const std::optional<std::string>& key) {
  const std::string path = EvaluationsPath(model_dir);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return EvalHistory(key.value_or(""));
  }
  EvalHistory history = InFile(path, [&] {
    return EvalHistory::Parse(ReadWholeFile(path, kMaxHistoryBytes));
  });
  const bool is_other = key && history.validation() != *key;
  return is_other ? EvalHistory(*key) : history;
}

EvalHistory ReadEvalHistoryUpTo(std::int64_t step, const std::string& model_dir,
                                const std::string& key) {
  EvalHistory history = ReadEvalHistory(model_dir, key);
  const std::string path = EvalPath(model_dir, step);
  std::error_code ignored;
  const bool is_whole = std::filesystem::is_regular_file(path, ignored) &&
                        ::access(path.c_str(), R_OK) == 0;
  history.DropAfter(is_whole ? step : step - 1);
  return history;
}

void WriteEvalHistory(const EvalHistory& history,
                      const std::string& model_dir) {
  WriteFileAtomically(EvaluationsPath(model_dir), history.ToJson());
}

void ForgetEvaluationsAfter(std::int64_t step, const std::string& model_dir) {
  EvalHistory history = ReadEvalHistory(model_dir);
  if (history.last_step() > step) {
    history.DropAfter(step);
    WriteEvalHistory(history, model_dir);
  }
  const std::string folder = EvalFolder(model_dir);
  for (const std::string& name : NamesInFolder(folder)) {
    if (EvalStep(name) > step) {
      RemoveFile(PathIn(folder, name));
    }
  }
}

}  // namespace infeed
