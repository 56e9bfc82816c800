#include "tools/input/observation.h"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "base/shown_text.h"
#include "tools/cli/help_text.h"

namespace infeed {

void AddObservationFlags(CLI::App& app, ObservationFlags& flags) {
  const FlagGroup group(app, "Observation", Shown::kInHelpAll);
  app.add_option("--metrics_file", flags.metrics_file,
                 "File that gets the input's statistics every 5 seconds, for "
                 "the node exporter of Prometheus (FILE.prom).")
      ->type_name("FILE");
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
  if (!flags.metrics_file.empty()) {
    metrics_ =
        std::make_unique<MetricsFile>(flags.metrics_file, std::move(labels));
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
