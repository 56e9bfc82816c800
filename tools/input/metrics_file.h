#pragma once

#include <chrono>
#include <deque>
#include <stop_token>
#include <string>
#include <thread>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/prometheus.h"
#include "pipeline/stats/stats.h"

namespace infeed {

// A file with a run's statistics in Prometheus's text format, for the textfile
// collector of the node exporter. It is replaced as a whole at each interval
// while live() has a run, and once more at the end; without a run, nothing is
// written. workers_wanted is of the last twelve intervals: an autoscaler that
// read the mean of the whole run would start workers long after enough came.
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
  // The statistics since the snapshot of twelve intervals ago, or since the
  // run's start.
  [[nodiscard]] PipelineStats LastIntervals(const PipelineStats& now);

  std::string path_;
  MetricLabels labels_;
  std::chrono::milliseconds interval_;
  LiveStats live_;
  bool has_failed_ = false;  // used by the thread only, as the next one
  std::deque<PipelineStats> snapshots_;
  std::jthread thread_;  // Last: it uses the members above.
};

}  // namespace infeed
