#pragma once

#include <memory>
#include <string>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/prometheus.h"
#include "pipeline/stats/trace_log.h"
#include "tools/input/metrics_file.h"

namespace CLI {
class App;
}

namespace infeed {

struct ObservationFlags {
  std::string metrics_file;  // empty: none
  std::string trace;         // a file; empty: none
};

void AddObservationFlags(CLI::App& app, ObservationFlags& flags);

// Observes a run: a file of metrics with the statistics of live(), and a trace
// that is written at the end.
//
// Owns both, and must outlive the run. One thread at a time, except for the
// objects that live() and trace() return. Throws IoError for a file that cannot
// be written, which it tests at the start.
class Observation {
 public:
  // labels: added to every metric.
  Observation(const ObservationFlags& flags, MetricLabels labels);
  ~Observation();  // Like Finish(), but ignores errors.
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // Null if not requested.
  [[nodiscard]] LiveStats* live() {
    return metrics_ ? &metrics_->live() : nullptr;
  }
  [[nodiscard]] TraceLog* trace() { return trace_.get(); }

  // Writes the trace so far.
  void Finish();
  // Writes no trace.
  void Discard();

 private:
  std::string trace_path_;  // empty: none, or already written
  std::unique_ptr<TraceLog> trace_;
  std::unique_ptr<MetricsFile> metrics_;
};

}  // namespace infeed
