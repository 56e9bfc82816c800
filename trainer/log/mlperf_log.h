#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "records/bytes/append_file.h"
#include "trainer/model_dir/metrics_log.h"

namespace infeed {

// A line of the source code: as a default argument, Here() is the caller's
// line. Replaces std::source_location, which Clang 14 lacks.
struct SourceLine {
  const char* file;
  int line;

  static constexpr SourceLine Here(const char* file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Writes MLPerf's log of a training run: lines of ":::MLLOG " and a JSON
// object, as its package mlperf_logging writes them and its compliance checker
// reads them. A file that exists grows.
//
// One thread at a time. Throws IoError.
class MlperfLog {
 public:
  using Clock = std::chrono::system_clock;
  using Value = MetricsLog::Value;
  using Metadata = MetricsLog::Values;

  // Empty path: nothing is written.
  explicit MlperfLog(const std::string& path);

  // A value that holds from a point in time; without a time, from now.
  void Point(std::string_view key, const Value& value,
             const Metadata& metadata = {},
             const SourceLine& where = SourceLine::Here());
  // The beginning and the end of an interval, without a value.
  void Start(std::string_view key, const Metadata& metadata = {},
             std::optional<Clock::time_point> time = {},
             const SourceLine& where = SourceLine::Here());
  void End(std::string_view key, const Metadata& metadata = {},
           const SourceLine& where = SourceLine::Here());

 private:
  std::optional<AppendFile> file_;
};

// One line, with its end. value: absent for null.
[[nodiscard]] std::string MlperfLine(
    MlperfLog::Clock::time_point time, std::string_view event_type,
    std::string_view key, const std::optional<MlperfLog::Value>& value,
    const MlperfLog::Metadata& metadata, const SourceLine& where);

}  // namespace infeed
