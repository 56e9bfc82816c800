#pragma once

#include <optional>
#include <string_view>

#include "pipeline/stats/live_stats.h"
#include "pipeline/stats/prometheus.h"
#include "tools/input/metrics_server.h"

namespace infeed {

// What a metrics server shows of a run: /metrics for Prometheus, /stats.json
// with the run so far and the interval since that page was last asked for.
// live must outlive it. One thread at a time.
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
  LiveStats::Snapshot before_;  // that /stats.json showed last
};

}  // namespace infeed
