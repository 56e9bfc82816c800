#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "records/bytes/append_file.h"

namespace infeed {

struct EventValue;
using EventValues = std::vector<EventValue>;
using EventObjects = std::vector<EventValues>;

struct EventValue {
  std::string name;  // in metrics.jsonl; "": not there
  std::variant<double, std::int64_t, bool, std::string, EventObjects> value;
  std::string tag = {};  // in TensorBoard; "": not there, else a double
};

// Appends lines of JSON to MODEL_DIR/metrics.jsonl. Each has "schema": 1,
// "time" (Unix seconds), "event" and "step", then the values given. A number
// that is not finite is written as null. If a killed run, or whoever cut the
// file, left an incomplete line, a newline is written after it first. A file
// that is removed or moved away is made again for the next line. docs/report.md
// lists the events and their values.
//
// One thread at a time. Throws IoError.
class MetricsLog {
 public:
  explicit MetricsLog(const std::string& model_dir);

  void Write(const std::string& event, std::int64_t step,
             const EventValues& values);

 private:
  void EndLine();

  AppendFile file_;
};

// One line, with its end.
[[nodiscard]] std::string MetricsLine(double unix_seconds,
                                      std::string_view event, std::int64_t step,
                                      const EventValues& values);

}  // namespace infeed
