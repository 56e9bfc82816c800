#include "tools/input/observation.h"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "base/shown_text.h"
#include "pipeline/stats/text.h"
#include "tools/cli/help_text.h"
#include "tools/input/metrics_server.h"

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

void AddObservationFlags(CLI::App& app, ObservationFlags& flags) {
  constexpr int kLastPort = 65535;
  const FlagGroup group(app, "Observation", Shown::kInHelpAll);
  app.add_option("--metrics_port", flags.metrics_port,
                 "Port of 127.0.0.1 for /metrics (Prometheus) and /stats.json; "
                 "0: a free one.")
      ->check(CLI::Range(0, kLastPort))
      ->type_name("PORT");
  app.add_option("--trace", flags.trace,
                 "File for a timeline of the threads' work, as Chrome trace "
                 "events (for ui.perfetto.dev).")
      ->type_name("FILE");
}

Observation::Observation(const ObservationFlags& flags, MetricLabels labels)
    : trace_path_(flags.trace) {
  if (!trace_path_.empty()) {
    trace_ = std::make_unique<TraceLog>();
    // Fails now instead of at the end.
    const AtomicFile probe(trace_path_, kNamedByUser);
  }
  if (flags.metrics_port) {
    live_ = std::make_unique<LiveStats>();
    pages_ = std::make_unique<MetricsPages>(*live_, std::move(labels));
    server_ = std::make_unique<MetricsServer>(
        *flags.metrics_port,
        [this](std::string_view path) { return pages_->Page(path); });
    fmt::print(stderr, "metrics: http://127.0.0.1:{}/metrics\n",
               server_->port());
  }
}

Observation::~Observation() {
  try {
    Finish();
  } catch (...) {  // Another error is being handled, which matters more.
  }
}

void Observation::Discard() { trace_path_.clear(); }

void Observation::Finish() {
  if (trace_path_.empty()) {
    return;
  }
  const std::string path = std::exchange(trace_path_, {});
  trace_->Write(path);
  if (trace_->dropped() > 0) {
    fmt::print(stderr, "trace: {} later events did not fit into {}\n",
               trace_->dropped(), ShownText(path));
  }
}

}  // namespace infeed
