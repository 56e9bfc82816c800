#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "records/store/key_guess.h"
#include "tools/cli/report_table.h"
#include "tools/inspect/dataset_stats.h"
#include "tools/shards/record_pass.h"

// The output of `records stats`: a table, and a page.
namespace infeed {

// For the histograms of sizes.
inline constexpr int kBinsPerOctave = 4;

struct StatsReport {
  std::vector<std::string> paths;  // of the shards
  std::vector<ShardPass> shards;   // one per path
  DatasetStats stats;
  RecordKeys keys = {};  // of the images and labels
};

struct StatsOptions {
  std::size_t samples = 0;  // images to keep for the page
  int threads = 0;          // 0: one per core
  RecordKeys keys = {};
};

// Calls `finished` for each shard when it is done, in the order of the paths.
// Throws IoError.
[[nodiscard]] StatsReport CollectStats(
    const std::vector<std::string>& shards, const StatsOptions& options,
    const std::function<void(const ShardPass&)>& finished = {});

// The text names at most a given number of classes, omitting those in the
// middle. docs/records.md has the fields of the JSON.
[[nodiscard]] ReportTable StatsTable(const StatsReport& report,
                                     std::size_t max_classes);

// A self-contained page with plots and the sampled images.
[[nodiscard]] std::string StatsHtml(const StatsReport& report);

// Figures that both show.

// The features besides those of image records; of records without images, all.
[[nodiscard]] FeatureTable OwnFeatures(const StatsReport& report);

// Of records without images: LoaderCode(). Else "".
[[nodiscard]] std::string ReadingCode(const StatsReport& report);

// All records, including bad ones; and the bad ones.
[[nodiscard]] std::int64_t CountRecords(const StatsReport& report);
[[nodiscard]] std::int64_t CountBadRecords(const StatsReport& report);

// Classes, largest first; ties: lower label first.
using LabelledClass = std::pair<std::int64_t, const ClassStats*>;
[[nodiscard]] std::vector<LabelledClass> ClassesBySize(
    const DatasetStats& stats);

// A class's readable name, else its synset, else "label N".
[[nodiscard]] std::string NameOf(const LabelledClass& labelled);

// Values that occur more than once.
struct Duplicates {
  std::int64_t values = 0;           // distinct ones
  std::int64_t records = 0;          // that have one of them
  std::vector<Occurrence> examples;  // the first ones
};
[[nodiscard]] Duplicates FindDuplicates(const Occurrences& occurrences);

// Well-known keys, and other keys of some records, each with the number of
// records that lack it; without the keys that every record has.
[[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> MissingKeys(
    const DatasetStats& stats);

}  // namespace infeed
