#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/rounding.h"
#include "base/shown_text.h"
#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"
#include "records/store/label_index.h"
#include "tools/cli/text_table.h"
#include "tools/inspect/dataset_stats_report.h"

namespace infeed {
namespace {

constexpr std::size_t kLongestName = 48;
constexpr std::int64_t kBarLength = 40;

std::string ShardLine(const StatsReport& report) {
  const auto [fewest, most] =
      std::minmax_element(report.shards.begin(), report.shards.end(),
                          [](const ShardPass& a, const ShardPass& b) {
                            return a.records < b.records;
                          });
  const auto [least, largest] =
      std::minmax_element(report.shards.begin(), report.shards.end(),
                          [](const ShardPass& a, const ShardPass& b) {
                            return a.payload_bytes < b.payload_bytes;
                          });
  return fmt::format("shards      {}..{} records, {}..{} each\n",
                     fewest->records, most->records,
                     FileSizeText(least->payload_bytes),
                     FileSizeText(largest->payload_bytes));
}

std::string CountsLine(std::string_view name,
                       const DatasetStats::Counts& counts) {
  std::string text;
  for (const auto& [key, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, count);
  }
  return text.empty() ? "" : fmt::format("{:<10}  {}\n", name, text);
}

// The lowest and the highest label, which shows whether labels begin at 0.
std::string LabelsLine(const DatasetStats& stats) {
  const auto none = stats.classes.find(kNoLabel);
  std::string text;
  for (const auto& [label, found] : stats.classes) {
    if (label != kNoLabel) {
      text = fmt::format("{}..{}", label, stats.classes.rbegin()->first);
      break;
    }
  }
  if (none != stats.classes.end()) {
    text += (text.empty() ? "" : ", ") +
            CountText(none->second.records, "record") + " without one";
  }
  return text.empty() ? "" : "labels      " + text + "\n";
}

std::string ClassesText(const DatasetStats& stats, std::size_t max_classes) {
  const std::vector<LabelledClass> classes = ClassesBySize(stats);
  if (classes.empty()) {
    return "";
  }
  const std::int64_t most = classes.front().second->records;
  const std::int64_t least = classes.back().second->records;
  std::string text = fmt::format(
      "classes     {}, {}..{} records each, largest/smallest {:.1f}\n\n",
      classes.size(), least, most,
      static_cast<double>(most) / static_cast<double>(least));
  TextTable table({">label", ">records", ">share", "class"});
  const std::size_t head = (max_classes + 1) / 2;
  const std::size_t tail = max_classes - head;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes.size() > max_classes && i >= head &&
        i < classes.size() - tail) {
      if (i == head) {
        table.Add({"...", "", "",
                   fmt::format("({} more)", classes.size() - max_classes)});
      }
      continue;
    }
    const auto& [label, found] = classes[i];
    table.Add({std::to_string(label), std::to_string(found->records),
               PercentText(found->records, stats.records),
               ShortText(NameOf(classes[i]), kLongestName)});
  }
  return text + table.Text() + "\n";
}

template <typename Show>
void AddTally(std::string name, const Tally& tally, TextTable& table,
              Show show) {
  if (tally.empty()) {
    return;
  }
  table.Add({std::move(name), show(static_cast<double>(tally.min())),
             show(static_cast<double>(tally.Quantile(0.5))),
             show(static_cast<double>(tally.Quantile(0.9))),
             show(static_cast<double>(tally.max())), show(tally.mean())});
}

std::string TalliesText(const DatasetStats& stats) {
  TextTable table({"", ">min", ">median", ">p90", ">max", ">mean"});
  const auto number = [](double value) { return fmt::format("{:.0f}", value); };
  AddTally("width", stats.width, table, number);
  AddTally("height", stats.height, table, number);
  AddTally("aspect", stats.aspect_percent, table,
           [](double percent) { return fmt::format("{:.2f}", percent / 100); });
  AddTally("bytes", stats.bytes, table,
           [](double bytes) { return FileSizeText(std::llround(bytes)); });
  AddTally("quality", stats.quality, table, number);
  return table.Text() + "\n";
}

std::string WidthHistogram(const Tally& width) {
  const std::vector<TallyBin> bins = LogBins(width, 1);
  std::int64_t most = 1;
  for (const TallyBin& bin : bins) {
    most = std::max(most, bin.count);
  }
  TextTable table({">width", ">images", ""});
  for (const TallyBin& bin : bins) {
    const std::int64_t length =
        CeilDiv<std::int64_t>(bin.count * kBarLength, most);
    table.Add({fmt::format("{}..{}", bin.from, bin.to),
               std::to_string(bin.count),
               std::string(static_cast<std::size_t>(length), '#')});
  }
  return bins.empty() ? "" : table.Text() + "\n";
}

std::string DuplicatesLine(const StatsReport& report, std::string_view name,
                           const Occurrences& occurrences) {
  const Duplicates found = FindDuplicates(occurrences);
  if (found.values == 0) {
    return "";
  }
  const Occurrence& first = found.examples.front();
  return fmt::format(
      "{} more than once, in {}; one is in {}: record {}\n",
      CountText(found.values, std::string(name) + " occurs",
                std::string(name) + "s occur"),
      CountText(found.records, "record"),
      ShownText(PathForMessages(report.paths[first.first.shard])),
      first.first.record);
}

// Oddities of the data that the user may want to fix.
std::string OdditiesText(const StatsReport& report) {
  const DatasetStats& stats = report.stats;
  std::string text;
  for (const auto& [key, records] : MissingKeys(stats)) {
    text +=
        fmt::format("{} {}\n",
                    records == stats.records
                        ? "all records lack"
                        : CountText(records, "record lacks", "records lack"),
                    key);
  }
  if (stats.wrong_sizes > 0) {
    text += fmt::format(
        "{} image\n",
        CountText(stats.wrong_sizes,
                  "record has another image/height or image/width than its",
                  "records have another image/height or image/width than "
                  "their"));
  }
  return text + DuplicatesLine(report, "file name", stats.names) +
         DuplicatesLine(report, "image", stats.contents);
}

}  // namespace

std::string StatsText(const StatsReport& report, std::size_t max_classes) {
  const DatasetStats& stats = report.stats;
  const std::int64_t bad = CountBadRecords(report);
  std::string text = fmt::format("records     {} in {}, {} of images, {} bad\n",
                                 CountRecords(report),
                                 CountText(report.shards.size(), "shard"),
                                 FileSizeText(stats.image_bytes), bad);
  if (!report.shards.empty()) {
    text += ShardLine(report);
  }
  text += LabelsLine(stats) + ClassesText(stats, max_classes) +
          TalliesText(stats) + WidthHistogram(stats.width);
  text += CountsLine("formats", stats.formats) +
          CountsLine("colors", stats.colors) +
          CountsLine("sampling", stats.sampling) +
          CountsLine("coding", stats.coding);
  if (!stats.coding.empty()) {
    text += fmt::format(
        "JPEGs with  a seek index {}, restart markers {}, EXIF {}, Adobe's "
        "marker {}, tables of a standard quality {}\n",
        stats.seek_indexes, stats.restart_markers, stats.exif, stats.adobe,
        stats.standard_tables);
  }
  const std::string oddities = OdditiesText(report);
  return text + (oddities.empty() ? "" : "\n" + oddities);
}

}  // namespace infeed
