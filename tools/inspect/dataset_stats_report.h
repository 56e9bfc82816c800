#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/inspect/dataset_stats.h"
#include "tools/shards/record_pass.h"

// What `records stats` says, in three forms.
namespace infeed {

// Of the histograms of sizes.
inline constexpr int kBinsPerOctave = 4;

struct StatsReport {
  std::vector<std::string> paths;  // of the shards
  std::vector<ShardPass> shards;   // as many
  DatasetStats stats;
};

// For people at a terminal; at most so many classes, the others left out in
// the middle.
[[nodiscard]] std::string StatsText(const StatsReport& report,
                                    std::size_t max_classes);

// Everything, for scripts: one object. docs/records.md has the fields.
[[nodiscard]] std::string StatsJson(const StatsReport& report);

// One page with plots and the sampled images, which needs no other file.
[[nodiscard]] std::string StatsHtml(const StatsReport& report);

// Figures that all three forms show.

// Records, bad ones included, and how many are bad.
[[nodiscard]] std::int64_t RecordsOf(const StatsReport& report);
[[nodiscard]] std::int64_t BadRecordsOf(const StatsReport& report);

// Classes, the largest first; of equal ones the lower label first.
using LabelledClass = std::pair<std::int64_t, const ClassStats*>;
[[nodiscard]] std::vector<LabelledClass> ClassesBySize(
    const DatasetStats& stats);

// The readable name, else the synset, else "label N".
[[nodiscard]] std::string NameOf(const LabelledClass& labelled);

// What occurs more than once.
struct Duplicates {
  std::int64_t values = 0;           // different ones
  std::int64_t records = 0;          // that have one of them
  std::vector<Occurrence> examples;  // the first of them
};
[[nodiscard]] Duplicates FindDuplicates(const Occurrences& occurrences);

// Well-known keys, and others that some records have, with the number of
// records that lack them; those that none lacks are left out.
[[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> MissingKeys(
    const DatasetStats& stats);

}  // namespace infeed
