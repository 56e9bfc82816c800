#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/prometheus.h"
#include "pipeline/stats/trace_log.h"

namespace CLI {
class App;
}

namespace infeed {

class MetricsServer;
struct WebPage;

// A metrics server's pages about a run: /metrics for Prometheus, /stats.json
// with the run so far and the interval since the last request for it. live must
// outlive it. One thread at a time.
class MetricsPages {
 public:
  MetricsPages(const LiveStats& live, MetricLabels labels)
      : live_(live), labels_(std::move(labels)) {}

  // nullopt for any other path.
  [[nodiscard]] std::optional<WebPage> Page(std::string_view path);

 private:
  [[nodiscard]] WebPage JsonPage();

  const LiveStats& live_;
  MetricLabels labels_;
  LiveStats::Snapshot before_;  // last shown by /stats.json
};

// The flags for observing a run of a program.
struct ObservationFlags {
  std::optional<int> metrics_port;  // 0: any free port; none: no server
  std::string trace;                // a file; empty: none
};

void AddObservationFlags(CLI::App& app, ObservationFlags& flags);

// Observes a run: a metrics server that shows live(), and a trace that is
// written at the end. Prints the server's address on stderr.
//
// Owns both, and must outlive the run. One thread at a time, except for the
// objects that live() and trace() return. Throws UsageError for a port that is
// not available, IoError for a trace file that cannot be written, which it
// tests at the start.
class Observation {
 public:
  // labels: added to every metric.
  Observation(const ObservationFlags& flags, MetricLabels labels);
  ~Observation();  // Like Finish(), but ignores errors.
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // Null if not requested.
  [[nodiscard]] LiveStats* live() { return live_.get(); }
  [[nodiscard]] TraceLog* trace() { return trace_.get(); }

  // Writes the trace so far.
  void Finish();
  // Writes no trace.
  void Discard();

 private:
  std::string trace_path_;  // empty: none, or already written
  std::unique_ptr<TraceLog> trace_;
  std::unique_ptr<LiveStats> live_;
  std::unique_ptr<MetricsPages> pages_;
  std::unique_ptr<MetricsServer> server_;
};

}  // namespace infeed
