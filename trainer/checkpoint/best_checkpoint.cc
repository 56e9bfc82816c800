#include "trainer/checkpoint/best_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/json.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/results/eval_result.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBestSchema = 1;
constexpr std::int64_t kMaxBytes = 4096;

struct Record {
  std::string metric;
  std::string validation;
  std::int64_t step = 0;
  double value = 0;
};

Record Parse(const std::string& text) {
  try {
    const Json json = ParseJson<Json>(text);
    if (json.at("schema").get<int>() != kBestSchema) {
      throw DataError(
          "its schema is unknown: it was written by another version");
    }
    return {.metric = json.at("metric").get<std::string>(),
            .validation = json.value("validation", ""),
            .step = json.at("step").get<std::int64_t>(),
            .value = json.at("value").get<double>()};
  } catch (const Json::exception& error) {
    throw DataError(
        fmt::format("not the record of a best checkpoint: {}; move it away to "
                    "start a new one",
                    JsonFault(error)));
  }
}

std::optional<Record> Read(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return std::nullopt;
  }
  return InFile(path, [&] { return Parse(ReadWholeFile(path, kMaxBytes)); });
}

}  // namespace

BestCheckpoint::BestCheckpoint(std::string model_dir, std::string metric,
                               std::string validation)
    : model_dir_(std::move(model_dir)),
      metric_(std::move(metric)),
      validation_(std::move(validation)) {
  if (metric_ == "none") {
    return;
  }
  const std::optional<Record> record = Read(BestPath(model_dir_));
  if (!record || record->metric != metric_ ||
      record->validation != validation_) {
    return;
  }
  const std::vector<std::int64_t> steps = ListCheckpoints(model_dir_);
  if (std::ranges::find(steps, record->step) != steps.end()) {
    step_ = record->step;
    value_ = record->value;
  }
}

bool BestCheckpoint::Note(std::int64_t step, std::optional<double> value) {
  if (metric_ == "none" || !value || !std::isfinite(*value) ||
      (step_ && !IsBetter(metric_, *value, value_))) {
    return false;
  }
  const Json json = {{"schema", kBestSchema},
                     {"metric", metric_},
                     {"validation", validation_},
                     {"step", step},
                     {"value", *value}};
  WriteFileAtomically(BestPath(model_dir_), json.dump() + "\n");
  step_ = step;
  value_ = *value;
  return true;
}

void ForgetBestAfter(std::int64_t step, const std::string& model_dir) {
  if (RecordedBestStep(model_dir) > step) {
    RemoveFile(BestPath(model_dir));
  }
}

std::optional<std::int64_t> RecordedBestStep(const std::string& model_dir) {
  try {
    const std::optional<Record> record = Read(BestPath(model_dir));
    return record ? std::optional(record->step) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace infeed
