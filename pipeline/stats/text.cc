#include "pipeline/stats/text.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ratio.h"
#include "pipeline/stats/bottleneck.h"
#include "pipeline/stats/fields.h"
#include "pipeline/stats/verdict.h"

namespace infeed {
namespace {

// Stages that are not the work of the threads that fill slots.
bool HasOwnThread(const StageStats& stage) {
  return stage.name == "order" || stage.name == "receive";
}

}  // namespace

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
                             (HasOwnThread(stage) ? 1 : threads)});
    }
  }
  for (const QueueStats& queue : interval.queues) {
    scalars.push_back(
        {"input/queue/" + queue.name, static_cast<double>(queue.depth)});
  }
  return scalars;
}

namespace {

std::string StageLine(const StageStats& stage, double thread_seconds) {
  const double items = static_cast<double>(stage.items);
  return fmt::format(
      "{:<7} {:>9} {:>10.1f} {:>9.2f} {:>7.1f} {:>9} {:>9.3f}\n", stage.name,
      stage.items, static_cast<double>(stage.bytes) / 1e6, stage.busy_seconds,
      100 * Ratio(stage.busy_seconds, thread_seconds),
      stage.busy_seconds > 0 ? fmt::format("{:.0f}", items / stage.busy_seconds)
                             : "-",
      1e3 * Ratio(stage.wait_seconds, items));
}

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

template <typename Stats>
void AddFields(const Stats& stats, Json& json) {
  for (const StatField<Stats>& field : kFields<Stats>) {
    if (!field.key.empty()) {
      std::visit(
          [&](auto member) {
            json[std::string(field.key)] = std::invoke(member, stats);
          },
          field.member);
    }
  }
}

template <typename Stats>
Json FieldsJson(const Stats& stats) {
  Json json = Json::object();
  AddFields(stats, json);
  return json;
}

template <typename Stats>
Json FieldsJson(const std::vector<Stats>& all) {
  Json json = Json::array();
  for (const Stats& stats : all) {
    json.push_back(FieldsJson(stats));
  }
  return json;
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
          {"worker_rate", OrNull(bottleneck.worker_rate)},
          {"workers_wanted", OrNull(bottleneck.workers_wanted)},
          {"outside_share", bottleneck.outside_share},
          {"storage_share", bottleneck.storage_share},
          {"bad_share", bottleneck.bad_share}};
}

}  // namespace

std::string StageTable(const PipelineStats& stats) {
  std::string table = fmt::format(
      "stage    {:>9}         MB    busy s  busy % {:>9} wait ms/i\n",
      stats.items_name(), std::string(stats.items_name()) + "/s");
  const double thread_seconds = stats.elapsed_seconds * stats.threads;
  for (const StageStats& stage : stats.stages) {
    if (stats.has_images || stage.items > 0) {
      table += StageLine(stage, thread_seconds);
    }
  }
  return table;
}

std::vector<WorkerStats> WorstWorkers(const PipelineStats& stats) {
  constexpr std::size_t kMost = 8;
  std::vector<WorkerStats> worst = stats.workers;
  std::ranges::sort(worst, [](const WorkerStats& a, const WorkerStats& b) {
    return std::tie(b.failed, b.latency_seconds, a.address) <
           std::tie(a.failed, a.latency_seconds, b.address);
  });
  worst.resize(std::min(worst.size(), kMost));
  return worst;
}

std::string WorkerTable(const PipelineStats& stats) {
  if (stats.workers.empty()) {
    return "";
  }
  const std::vector<WorkerStats> worst = WorstWorkers(stats);
  std::string table = fmt::format(
      "{:<24} state      {:>9}  failed  unused declined  p50 ms  p99 ms\n",
      worst.size() < stats.workers.size()
          ? fmt::format("worst {} of {} workers", worst.size(),
                        stats.workers.size())
          : "worker",
      stats.items_name());
  for (const WorkerStats& worker : worst) {
    table += fmt::format(
        "{:<24} {:<10} {:>9} {:>7} {:>7} {:>8} {:>7.1f} {:>7.1f}\n",
        worker.address, worker.state, worker.images, worker.failed,
        worker.unused, worker.declined, 1e3 * worker.latency_seconds,
        1e3 * worker.latency_p99_seconds);
  }
  return table;
}

std::string QueueText(const PipelineStats& stats) {
  std::string text;
  for (const QueueStats& queue : stats.queues) {
    text += fmt::format("{}{} {} (most {})", text.empty() ? "queues: " : ", ",
                        queue.name, queue.depth, queue.most);
  }
  if (stats.copied_batches > 0) {
    text += fmt::format("; {} batches copied for the consumer",
                        stats.copied_batches);
  }
  return text;
}

std::string SeekIndexText(const SeekIndexStats& stats) {
  std::string text = fmt::format("seek index: {} used, {} refused, {} none",
                                 stats.used, stats.refused, stats.none);
  if (stats.found > 0) {
    text += fmt::format(
        ", {} found or extended while decoding, which cover {:.0f} % of the "
        "rows",
        stats.found, 100 * CoveredShare(stats));
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
  Json json = {{"schema", kSchema},
               {"graph", stats.overlapped ? "flow" : "basic"}};
  AddFields(stats, json);
  json["bad_record_totals"] = FieldsJson(stats.bad_record_totals);
  json["cache"] = FieldsJson(stats.cache);
  json["seek_index"] = FieldsJson(stats.seek_indexes);
  json["stages"] = FieldsJson(stats.stages);
  json["queues"] = FieldsJson(stats.queues);
  json["workers"] = FieldsJson(stats.workers);
  json["bottleneck"] = BottleneckJson(BottleneckOf(stats));
  json["verdict"] = Verdict(stats);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
