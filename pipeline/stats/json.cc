#include "pipeline/stats/json.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "pipeline/stats/verdict.h"

namespace infeed {
namespace {

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
