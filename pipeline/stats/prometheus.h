#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/stats/stats.h"

namespace infeed {

// Label names and values for every sample, such as {{"run", "a/b"}}. Names are
// [a-zA-Z_][a-zA-Z0-9_]*; values are any text.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// A snapshot in Prometheus's text format 0.0.4, with HELP and TYPE of each
// metric, and at most 64 workers; docs/throughput.md lists the metrics. Content
// type: "text/plain; version=0.0.4; charset=utf-8". workers_wanted:
// Bottleneck's, of the time of which autoscalers are to know; none: there is no
// such metric.
[[nodiscard]] std::string PrometheusText(
    const PipelineStats& stats, const MetricLabels& labels = {},
    const std::optional<double>& workers_wanted = {});

}  // namespace infeed
