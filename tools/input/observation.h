#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/prometheus.h"
#include "pipeline/stats/trace_log.h"

namespace CLI {
class App;
}

namespace infeed {

class MetricsPages;
class MetricsServer;

// How a run of a program is watched.
struct ObservationFlags {
  std::optional<int> metrics_port;  // 0: any that is free; none: no server
  std::string trace;                // a file; empty: none
};

void AddObservationFlags(CLI::App& app, ObservationFlags& flags);

// The watching itself: a metrics server that shows live(), and a trace that is
// written at the end. Prints the server's address on stderr.
//
// Owns both, and must outlive the run. One thread at a time, but for what is
// said of live() and trace(). Throws UsageError for a port that cannot be had,
// IoError for a trace that cannot be written, which it tries at the start.
class Observation {
 public:
  // labels: of every metric.
  Observation(const ObservationFlags& flags, MetricLabels labels);
  ~Observation();  // As Finish(), but what goes wrong is not heard.
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // Null where nobody asked.
  [[nodiscard]] LiveStats* live() { return live_.get(); }
  [[nodiscard]] TraceLog* trace() { return trace_.get(); }

  // Writes the trace of what was done so far.
  void Finish();

 private:
  std::string trace_path_;  // empty: none, or it is written
  std::unique_ptr<TraceLog> trace_;
  std::unique_ptr<LiveStats> live_;
  std::unique_ptr<MetricsPages> pages_;
  std::unique_ptr<MetricsServer> server_;
};

}  // namespace infeed
