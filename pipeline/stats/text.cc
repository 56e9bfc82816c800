#include "pipeline/stats/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/ratio.h"
#include "pipeline/stats/bottleneck.h"
#include "pipeline/stats/verdict.h"

namespace infeed {

std::vector<Scalar> StatsScalars(const PipelineStats& interval) {
  if (interval.elapsed_seconds <= 0) {
    return {};
  }
  const Bottleneck bottleneck = BottleneckOf(interval);
  std::vector<Scalar> scalars = {
      {"input/images_per_second", interval.images_per_second()},
      {"input/device_wait", bottleneck.device_wait_share},
      {"input/threads_busy", bottleneck.busy_share},
      {"input/bad_records", static_cast<double>(interval.bad_records)},
      {"input/outside_crops", bottleneck.outside_share}};
  const double threads = interval.threads > 0 ? interval.threads : 1;
  for (const StageStats& stage : interval.stages) {
    if (stage.name != "batch") {  // "batch" does no work.
      scalars.push_back({"input/busy/" + stage.name,
                         stage.busy_seconds / interval.elapsed_seconds /
                             (stage.name == "order" ? 1 : threads)});
    }
  }
  for (const QueueStats& queue : interval.queues) {
    scalars.push_back(
        {"input/queue/" + queue.name, static_cast<double>(queue.depth)});
  }
  return scalars;
}

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

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json StagesJson(const PipelineStats& stats) {
  Json stages = Json::array();
  for (const StageStats& stage : stats.stages) {
    stages.push_back({{"name", stage.name},
                      {"items", stage.items},
                      {"bytes", stage.bytes},
                      {"busy_seconds", stage.busy_seconds},
                      {"wait_seconds", stage.wait_seconds}});
  }
  return stages;
}

Json QueuesJson(const PipelineStats& stats) {
  Json queues = Json::array();
  for (const QueueStats& queue : stats.queues) {
    queues.push_back(
        {{"name", queue.name}, {"depth", queue.depth}, {"most", queue.most}});
  }
  return queues;
}

Json SeekIndexJson(const SeekIndexStats& stats) {
  return {{"used", stats.used},
          {"refused", stats.refused},
          {"none", stats.none},
          {"found", stats.found},
          {"rows", stats.rows},
          {"covered_rows", stats.covered_rows},
          {"write_error", stats.write_error},
          {"first_refused", stats.first_refused}};
}

Json BadRecordsJson(const BadRecordTotals& totals) {
  return {{"samples", totals.samples},
          {"bad_samples", totals.bad_samples},
          {"different", totals.different},
          {"frame", totals.frames},
          {"example", totals.examples},
          {"label", totals.labels},
          {"image", totals.images},
          {"warnings", totals.warnings},
          {"first_warning", totals.first_warning},
          {"max_bad_records", totals.max_different},
          {"max_bad_rate", totals.max_rate}};
}

Json CacheJson(const RecordCacheStats& cache) {
  return {{"records", cache.records},
          {"bytes", cache.bytes},
          {"limit_bytes", cache.limit_bytes},
          {"hits", cache.hits}};
}

Json OrNull(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json BottleneckJson(const Bottleneck& bottleneck) {
  return {{"bound", BoundName(bottleneck.bound)},
          {"stage", bottleneck.stage},
          {"stage_share", bottleneck.stage_share},
          {"busy_share", bottleneck.busy_share},
          {"images_per_core", OrNull(bottleneck.images_per_core)},
          {"device_wait_share", bottleneck.device_wait_share},
          {"device_rate", OrNull(bottleneck.device_rate)},
          {"cores_needed", OrNull(bottleneck.cores_needed)},
          {"outside_share", bottleneck.outside_share},
          {"storage_share", bottleneck.storage_share},
          {"bad_share", bottleneck.bad_share}};
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
  if (stats.found > 0) {
    text += ", " + std::to_string(stats.found) +
            " found or extended while decoding, which cover " +
            std::to_string(std::lround(100 * CoveredShare(stats))) +
            " % of the rows";
  }
  if (!stats.write_error.empty()) {
    text += "; found ones are not kept in files: " + stats.write_error;
  }
  if (stats.refused > 0) {
    text += "; the first refused: " + stats.first_refused;
  }
  return text;
}

std::string StatsJson(const PipelineStats& stats) {
  const Json json = {
      {"schema", kSchema},
      {"graph", stats.overlapped ? "flow" : "basic"},
      {"threads", stats.threads},
      {"cores", stats.cores},
      {"has_device", stats.has_device},
      {"elapsed_seconds", stats.elapsed_seconds},
      {"batches", stats.batches},
      {"images", stats.images},
      {"copied_batches", stats.copied_batches},
      {"images_per_second", stats.images_per_second()},
      {"first_batch_seconds", stats.first_batch_seconds},
      {"first_wait_seconds", stats.first_wait_seconds},
      {"consumer_wait_seconds", stats.consumer_wait_seconds},
      {"bad_records", stats.bad_records},
      {"first_bad_record", stats.first_bad_record},
      {"bad_record_totals", BadRecordsJson(stats.bad_record_totals)},
      {"cache", CacheJson(stats.cache)},
      {"seek_index", SeekIndexJson(stats.seek_indexes)},
      {"outside_pixels", stats.outside_pixels},
      {"storage_bytes", stats.storage_bytes},
      {"memory_bytes", stats.memory_bytes},
      {"stages", StagesJson(stats)},
      {"queues", QueuesJson(stats)},
      {"bottleneck", BottleneckJson(BottleneckOf(stats))},
      {"verdict", Verdict(stats)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
