#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace infeed {

// metrics.jsonl of a model folder: the lines of one event by step; of a step
// that was run twice, the later one.
inline std::map<int, nlohmann::json> MetricsLines(const std::string& model_dir,
                                                  const std::string& event) {
  std::map<int, nlohmann::json> lines;
  std::ifstream file(model_dir + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    nlohmann::json values = nlohmann::json::parse(line);
    if (values["event"] == event) {
      lines[values["step"]] = values;
    }
  }
  return lines;
}

// The loss of each step of a training.
inline std::vector<double> TrainLosses(const std::string& model_dir) {
  std::vector<double> losses;
  for (const auto& [step, line] : MetricsLines(model_dir, "train")) {
    losses.push_back(line["loss"]);
  }
  return losses;
}

}  // namespace infeed
