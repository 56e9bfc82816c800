#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/prometheus.h"

namespace infeed {

// A file with a run's statistics in Prometheus's text format, for the textfile
// collector of the node exporter. It is replaced as a whole at each interval
// while live() has a run, and once more at the end; without a run, nothing is
// written.
//
// Owns its thread, which the destructor ends at once. One thread at a time,
// except for live(). Throws IoError for a file that cannot be written, which it
// tests at the start; a later failure is printed on stderr, once.
class MetricsFile {
 public:
  // labels: added to every metric.
  MetricsFile(std::string path, MetricLabels labels,
              std::chrono::milliseconds interval = std::chrono::seconds(5));

  [[nodiscard]] LiveStats& live() { return live_; }

 private:
  void Run(const std::stop_token& stop);
  void Write();

  std::string path_;
  MetricLabels labels_;
  std::chrono::milliseconds interval_;
  LiveStats live_;
  bool has_failed_ = false;  // used by the thread only
  std::jthread thread_;      // Last: it uses the members above.
};

}  // namespace infeed
