#include "tools/input/metrics_file.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/shown_text.h"
#include "pipeline/stats/bottleneck.h"

namespace infeed {

MetricsFile::MetricsFile(std::string path, MetricLabels labels,
                         std::chrono::milliseconds interval)
    : path_(std::move(path)), labels_(std::move(labels)), interval_(interval) {
  // Fails now instead of at the first interval.
  const AtomicFile probe(path_, kNamedByUser);
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

void MetricsFile::Run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  do {
    (void)never.wait_for(lock, stop, interval_, [] { return false; });
    Write();
  } while (!stop.stop_requested());
}

PipelineStats MetricsFile::LastIntervals(const PipelineStats& now) {
  constexpr std::size_t kMost = 12;
  if (!snapshots_.empty() &&
      now.elapsed_seconds < snapshots_.back().elapsed_seconds) {
    snapshots_.clear();  // They are of an earlier run.
  }
  PipelineStats recent =
      snapshots_.size() < kMost ? now : now.Since(snapshots_.front());
  snapshots_.push_back(now);
  if (snapshots_.size() > kMost) {
    snapshots_.pop_front();
  }
  return recent;
}

void MetricsFile::Write() {
  const std::optional<PipelineStats> now = live_.Read();
  if (!now) {
    return;
  }
  const Bottleneck recent = BottleneckOf(LastIntervals(*now));
  try {
    WriteFileAtomically(path_,
                        PrometheusText(*now, labels_, recent.workers_wanted),
                        kNamedByUser);
  } catch (const IoError& error) {
    if (!std::exchange(has_failed_, true)) {
      fmt::print(stderr, "metrics: {}\n", ShownText(error.what()));
    }
  }
}

}  // namespace infeed
