#include "tools/input/metrics_pages.h"

#include <utility>

#include "pipeline/stats/json.h"

namespace infeed {

std::optional<WebPage> MetricsPages::Page(std::string_view path) {
  if (path == "/metrics") {
    return WebPage{.type = "text/plain; version=0.0.4; charset=utf-8",
                   .body = PrometheusText(live_.Read().stats, labels_)};
  }
  if (path == "/stats.json") {
    return JsonPage();
  }
  return std::nullopt;
}

WebPage MetricsPages::JsonPage() {
  LiveStats::Snapshot now = live_.Read();
  const bool same_run = now.run == before_.run;
  const PipelineStats interval =
      same_run ? now.stats.Since(before_.stats) : now.stats;
  WebPage page{.type = "application/json",
               .body = "{\"run\": " + StatsJson(now.stats) +
                       ", \"interval\": " + StatsJson(interval) + "}\n"};
  before_ = std::move(now);
  return page;
}

}  // namespace infeed
