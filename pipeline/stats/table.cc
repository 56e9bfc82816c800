#include "pipeline/stats/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/ratio.h"

namespace infeed {
namespace {

// The rate of one thread that does only this stage; empty for a stage that only
// waits.
std::string RateText(double items, double busy_seconds) {
  if (busy_seconds <= 0) {
    return "-";
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f", items / busy_seconds);
  return text.data();
}

std::string StageLine(const StageStats& stage, double thread_seconds) {
  const double items = static_cast<double>(stage.items);
  std::array<char, 160> line{};
  const int length = std::snprintf(
      line.data(), line.size(), "%-7s %9lld %10.1f %9.2f %7.1f %9s %9.3f\n",
      stage.name.c_str(), static_cast<long long>(stage.items),
      static_cast<double>(stage.bytes) / 1e6, stage.busy_seconds,
      100 * Ratio(stage.busy_seconds, thread_seconds),
      RateText(items, stage.busy_seconds).c_str(),
      1e3 * Ratio(stage.wait_seconds, items));
  return {line.data(),
          std::min(static_cast<std::size_t>(length), line.size() - 1)};
}

}  // namespace

std::string StageTable(const PipelineStats& stats) {
  std::string table =
      "stage       images         MB    busy s  busy %  images/s "
      "wait ms/i\n";
  const double thread_seconds = stats.elapsed_seconds * stats.threads;
  for (const StageStats& stage : stats.stages) {
    table += StageLine(stage, thread_seconds);
  }
  return table;
}

std::string QueueText(const PipelineStats& stats) {
  std::string text;
  for (const QueueStats& queue : stats.queues) {
    text += (text.empty() ? "queues: " : ", ") + queue.name + " " +
            std::to_string(queue.depth) + " (most " +
            std::to_string(queue.most) + ")";
  }
  if (stats.copied_batches > 0) {
    text += "; " + std::to_string(stats.copied_batches) +
            " batches copied for the consumer";
  }
  return text;
}

std::string SeekIndexText(const SeekIndexStats& stats) {
  std::string text = "seek index: " + std::to_string(stats.used) + " used, " +
                     std::to_string(stats.refused) + " refused, " +
                     std::to_string(stats.none) + " none";
  if (stats.refused > 0) {
    text += "; the first refused: " + stats.first_refused;
  }
  return text;
}

}  // namespace infeed
