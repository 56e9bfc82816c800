#include "trainer/log/run_history.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "records/bytes/hash_text.h"
#include "records/bytes/json.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

double Number(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number()
             ? found->get<double>()
             : std::numeric_limits<double>::quiet_NaN();
}

bool Flag(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_boolean() && found->get<bool>();
}

// "": there is no such text.
std::string TextIn(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

HistoryPoint PointOf(const Json& line, std::int64_t step) {
  return {.step = step,
          .loss = Number(line, "loss"),
          .top_1 = Number(line, "top_1"),
          .learning_rate = Number(line, "learning_rate"),
          .images_per_second = Number(line, "images_per_second"),
          .input_wait = Number(line, "input_wait"),
          .warm_up = Flag(line, "warm_up")};
}

HistoryEvaluation EvaluationOf(const Json& line, std::int64_t step) {
  return {.step = step,
          .name = TextIn(line, "evaluation"),
          .loss = Number(line, "loss"),
          .top_1 = Number(line, "top_1"),
          .top_5 = Number(line, "top_5")};
}

RunEnd EndOf(const Json& line) {
  const RunEnd* const end = FindChoice(TextIn(line, "state"), kRunEnds);
  return end == nullptr ? RunEnd::kDone : *end;
}

HistoryRun RunOf(const Json& line, std::int64_t step, double time) {
  HistoryRun run = {.first_step = step, .start_time = time, .last_time = time};
  for (const auto& [name, value] : line.items()) {
    if (value.is_string() && name != "event") {
      run.origin.emplace_back(name, value.get<std::string>());
    }
  }
  const auto batch = line.find("batch_size");
  if (batch != line.end() && batch->is_number_integer()) {
    run.batch_size = batch->get<std::int64_t>();
  }
  return run;
}

// nullopt: the loop has no fingerprint.
std::optional<HistoryFingerprint> FingerprintOf(const Json& line,
                                                std::int64_t step) {
  const auto hash = ParseHashText(TextIn(line, "input_fingerprint"));
  return hash ? std::optional(HistoryFingerprint{
                    .step = step,
                    .value = *hash,
                    .has_pixels = TextIn(line, "input_hash") == "pixels"})
              : std::nullopt;
}

template <typename Point>
void CutFrom(std::vector<Point>& points, std::int64_t step) {
  while (!points.empty() && points.back().step >= step) {
    points.pop_back();
  }
}

}  // namespace

RunHistory::RunHistory(std::string model_dir) : path_(MetricsPath(model_dir)) {}

void RunHistory::Update() {
  const std::filesystem::file_status status = std::filesystem::status(path_);
  if (!std::filesystem::exists(status)) {
    return;
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw IoError(path_ + ": is not a regular file");
  }
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    throw IoError(path_, "open", errno);
  }
  file.seekg(read_);
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) {
      break;  // The line is not complete yet.
    }
    read_ += static_cast<std::int64_t>(line.size()) + 1;
    Add(line);
  }
}

void RunHistory::BeginRun(const HistoryRun& run) {
  const std::int64_t step = run.first_step;
  // A checkpoint is written only where a loop ends.
  for (const HistoryPoint& loop : loops_) {
    if (loop.step > step) {
      left_.insert(loop.step);
    }
  }
  left_.erase(step);
  // The run's first step is the one after its checkpoint's.
  CutFrom(steps_, step + 1);
  CutFrom(loops_, step + 1);
  CutFrom(fingerprints_, step + 1);
  CutFrom(evaluations_, step + 1);
  std::erase_if(other_evaluations_, [&](const HistoryEvaluation& evaluation) {
    return evaluation.step > step;
  });
  runs_.push_back(run);
}

// A curve has only evaluations with the same data and settings.
void RunHistory::AddEvaluation(const HistoryEvaluation& evaluation) {
  if (!evaluations_.empty() && evaluations_.back().name != evaluation.name) {
    const std::vector<HistoryEvaluation> before =
        std::exchange(evaluations_, {});
    for (const HistoryEvaluation& other : before) {
      AddOther(other);
    }
  }
  CutFrom(evaluations_, evaluation.step);
  evaluations_.push_back(evaluation);
}

void RunHistory::AddOther(const HistoryEvaluation& evaluation) {
  std::erase_if(other_evaluations_, [&](const HistoryEvaluation& other) {
    return other.step == evaluation.step && other.name == evaluation.name;
  });
  other_evaluations_.push_back(evaluation);
}

void RunHistory::Add(std::string_view text) {
  const Json line = ParseJsonOrDiscard<Json>(text);
  if (!line.is_object()) {
    return;
  }
  const std::string event = TextIn(line, "event");
  if (event.empty() || !line.contains("step") ||
      !line["step"].is_number_integer()) {
    return;
  }
  const auto step = line["step"].get<std::int64_t>();
  const double time = Number(line, "time");
  if (event == "start") {
    BeginRun(RunOf(line, step, time));
  } else if (event == "train") {
    steps_.push_back(PointOf(line, step));
  } else if (event == "loop") {
    loops_.push_back(PointOf(line, step));
    if (const auto fingerprint = FingerprintOf(line, step)) {
      CutFrom(fingerprints_, step);  // a stopped loop without a step
      fingerprints_.push_back(*fingerprint);
    }
  } else if (event == "checkpoint") {
    left_.erase(step);
  } else if (event == "eval") {
    AddEvaluation(EvaluationOf(line, step));
  } else if (event == "other_eval") {
    AddOther(EvaluationOf(line, step));
  }
  if (runs_.empty() || (runs_.back().end && event.ends_with("eval"))) {
    return;  // An evaluation outside of a run.
  }
  HistoryRun& run = runs_.back();
  run.last_time = std::isfinite(time) ? time : run.last_time;
  // An evaluation may be another process's, of any step; a checkpoint's event
  // comes late where it is written beside the steps. The end is where the run
  // diverged, which may be before.
  if (!event.ends_with("eval")) {
    run.last_step = event == "end" ? step : std::max(run.last_step, step);
  }
  run.end = event == "end" ? std::optional(EndOf(line)) : std::nullopt;
  if (event == "warm_up") {
    run.start_up_seconds = Number(line, "start_up_seconds");
    run.warm_up_seconds = Number(line, "seconds");
    run.first_batch_seconds = Number(line, "first_batch_seconds");
  }
}

}  // namespace infeed
