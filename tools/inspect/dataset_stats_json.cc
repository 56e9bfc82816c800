#include <nlohmann/json.hpp>

#include "records/files/open_source.h"
#include "tools/inspect/dataset_stats_report.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Tally& tally) {
  if (tally.empty()) {
    return nullptr;
  }
  return {{"count", tally.count()},     {"min", tally.min()},
          {"p10", tally.Quantile(0.1)}, {"median", tally.Quantile(0.5)},
          {"p90", tally.Quantile(0.9)}, {"max", tally.max()},
          {"mean", tally.mean()}};
}

// Adds a histogram: a list of [first value, last value, count].
Json WithBins(Json json, const std::vector<TallyBin>& bins) {
  if (!json.is_null()) {
    json["histogram"] = Json::array();
    for (const TallyBin& bin : bins) {
      json["histogram"].push_back({bin.from, bin.to, bin.count});
    }
  }
  return json;
}

std::vector<TallyBin> EachValue(const Tally& tally) {
  std::vector<TallyBin> bins;
  for (const auto& [value, times] : tally.times()) {
    bins.push_back({.from = value, .to = value, .count = times});
  }
  return bins;
}

Json ClassesToJson(const DatasetStats& stats) {
  Json classes = Json::array();
  for (const auto& [label, found] : stats.classes) {
    classes.push_back({{"label", label},
                       {"records", found.records},
                       {"synset", found.synset},
                       {"text", found.text}});
  }
  return classes;
}

Json ShardsToJson(const StatsReport& report) {
  Json shards = Json::array();
  for (const ShardPass& shard : report.shards) {
    shards.push_back({{"file", PathForMessages(report.paths[shard.shard])},
                      {"records", shard.records},
                      {"payload_bytes", shard.payload_bytes},
                      {"bad", shard.bad.size()}});
  }
  return shards;
}

Json ToJson(const StatsReport& report, const Occurrences& occurrences) {
  const Duplicates found = FindDuplicates(occurrences);
  Json examples = Json::array();
  for (const Occurrence& example : found.examples) {
    examples.push_back(
        {{"file", PathForMessages(report.paths[example.first.shard])},
         {"record", example.first.record},
         {"times", example.times}});
  }
  return {{"values", found.values},
          {"records", found.records},
          {"examples", std::move(examples)}};
}

Json MissingToJson(const DatasetStats& stats) {
  Json missing = Json::object();
  for (const auto& [key, records] : MissingKeys(stats)) {
    missing[key] = records;
  }
  return missing;
}

}  // namespace

std::string StatsJson(const StatsReport& report) {
  const DatasetStats& stats = report.stats;
  const Json json = {
      {"records", CountRecords(report)},
      {"bad", CountBadRecords(report)},
      {"images", stats.images},
      {"image_bytes", stats.image_bytes},
      {"shards", ShardsToJson(report)},
      {"classes", ClassesToJson(stats)},
      {"keys", stats.keys},
      {"missing", MissingToJson(stats)},
      {"formats", stats.formats},
      {"width",
       WithBins(ToJson(stats.width), LogBins(stats.width, kBinsPerOctave))},
      {"height",
       WithBins(ToJson(stats.height), LogBins(stats.height, kBinsPerOctave))},
      {"aspect_percent", ToJson(stats.aspect_percent)},
      {"bytes",
       WithBins(ToJson(stats.bytes), LogBins(stats.bytes, kBinsPerOctave))},
      {"jpeg",
       {{"quality", WithBins(ToJson(stats.quality), EachValue(stats.quality))},
        {"standard_tables", stats.standard_tables},
        {"sampling", stats.sampling},
        {"coding", stats.coding},
        {"colors", stats.colors},
        {"restart_markers", stats.restart_markers},
        {"seek_index", stats.seek_indexes},
        {"exif", stats.exif},
        {"adobe_marker", stats.adobe}}},
      {"wrong_sizes", stats.wrong_sizes},
      {"duplicate_names", ToJson(report, stats.names)},
      {"duplicate_images", ToJson(report, stats.contents)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace infeed
