#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace infeed {

// Appends lines of JSON to MODEL_DIR/metrics.jsonl. Each has "schema": 1,
// "time" (Unix seconds), "event" and "step", then the values given. A value
// that is not finite is written as null. Lines are written whole with one
// write(2). One thread at a time. Throws IoError.
class MetricsLog {
 public:
  using Values = std::vector<std::pair<std::string, double>>;

  explicit MetricsLog(const std::string& model_dir);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  // event: "train", "eval", "checkpoint", "end".
  void Write(const std::string& event, std::int64_t step, const Values& values);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace infeed
