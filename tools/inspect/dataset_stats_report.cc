#include "tools/inspect/dataset_stats_report.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tools/cli/parallel_for.h"
#include "tools/shards/progress.h"

namespace infeed {
namespace {

constexpr std::size_t kMaxExamples = 5;

// The keys that every image record should have.
constexpr std::array<std::string_view, 8> kWellKnownKeys = {
    "image/class/label", "image/class/synset", "image/class/text",
    "image/encoded",     "image/filename",     "image/format",
    "image/height",      "image/width"};

// What image records, and the samples of tars, may also have.
constexpr std::array<std::string_view, 6> kOtherImageKeys = {
    "image/channels",   "image/colorspace", "image/packed",
    "image/seek_index", "__key__",          "cls"};

}  // namespace

StatsReport CollectStats(
    const std::vector<std::string>& shards, const StatsOptions& options,
    const std::function<void(const ShardPass&)>& finished) {
  StatsReport report = {
      .paths = shards, .shards = {}, .stats = {}, .keys = options.keys};
  const ExampleKeys keys = {.image = options.keys.image,
                            .label = options.keys.label};
  std::vector<DatasetStats> parts(ThreadCount(options.threads));
  ShardProgress progress(shards);
  RecordPassOptions pass_options = progress.Options();
  pass_options.image_key = options.keys.image;
  PassOverRecords(
      shards, parts.size(),
      [&](std::size_t thread, std::size_t shard, const Record& record) {
        AddRecord(shard, record, options.samples, keys, parts[thread]);
      },
      pass_options,
      [&](ShardPass pass) {
        if (finished) {
          finished(pass);
        }
        report.shards.push_back(std::move(pass));
      });
  for (DatasetStats& part : parts) {
    report.stats.Merge(std::move(part));
  }
  KeepSamples(report.stats.samples, options.samples);
  return report;
}

std::int64_t CountRecords(const StatsReport& report) {
  std::int64_t records = 0;
  for (const ShardPass& shard : report.shards) {
    records += shard.records;
  }
  return records;
}

std::int64_t CountBadRecords(const StatsReport& report) {
  std::size_t bad = 0;
  for (const ShardPass& shard : report.shards) {
    bad += shard.bad.size();
  }
  return static_cast<std::int64_t>(bad);
}

FeatureTable OwnFeatures(const StatsReport& report) {
  if (report.stats.LacksImages()) {
    return report.stats.features;
  }
  std::vector<std::string> known(kWellKnownKeys.begin(), kWellKnownKeys.end());
  known.insert(known.end(), kOtherImageKeys.begin(), kOtherImageKeys.end());
  known.insert(known.end(), {report.keys.image, report.keys.label});
  return report.stats.features.Without(known);
}

std::string ReadingCode(const StatsReport& report) {
  return report.stats.LacksImages()
             ? LoaderCode(report.stats.features, report.stats.records,
                          report.paths)
             : "";
}

std::vector<LabelledClass> ClassesBySize(const DatasetStats& stats) {
  std::vector<LabelledClass> classes;
  for (const auto& [label, found] : stats.classes) {
    if (label != kNoLabel) {
      classes.emplace_back(label, &found);
    }
  }
  std::stable_sort(classes.begin(), classes.end(),
                   [](const LabelledClass& a, const LabelledClass& b) {
                     return a.second->records > b.second->records;
                   });
  return classes;
}

std::string NameOf(const LabelledClass& labelled) {
  const auto& [label, found] = labelled;
  if (!found->text.empty()) {
    return found->text;
  }
  return found->synset.empty() ? "label " + std::to_string(label)
                               : found->synset;
}

Duplicates FindDuplicates(const Occurrences& occurrences) {
  Duplicates duplicates;
  for (const auto& [hash, occurrence] : occurrences) {
    if (occurrence.times > 1) {
      ++duplicates.values;
      duplicates.records += occurrence.times;
      duplicates.examples.push_back(occurrence);
    }
  }
  std::ranges::sort(duplicates.examples, {}, &Occurrence::first);
  duplicates.examples.resize(
      std::min(duplicates.examples.size(), kMaxExamples));
  return duplicates;
}

std::vector<std::pair<std::string, std::int64_t>> MissingKeys(
    const DatasetStats& stats) {
  DatasetStats::Counts keys = stats.keys;
  for (const std::string_view key : kWellKnownKeys) {
    keys.try_emplace(std::string(key), 0);
  }
  if (keys.at("image/encoded") == 0 && stats.keys.contains("image/packed")) {
    keys.erase("image/encoded");  // Records hold packed pixels.
  }
  std::vector<std::pair<std::string, std::int64_t>> missing;
  for (const auto& [key, count] : keys) {
    if (count < stats.records) {
      missing.emplace_back(key, stats.records - count);
    }
  }
  return missing;
}

}  // namespace infeed
