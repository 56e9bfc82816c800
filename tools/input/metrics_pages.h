#pragma once

#include <optional>
#include <string_view>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/prometheus.h"
#include "tools/input/metrics_server.h"

namespace infeed {

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

}  // namespace infeed
