#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.h"
#include "base/rounding.h"
#include "base/shown_text.h"
#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"
#include "tools/cli/report_table.h"
#include "tools/inspect/dataset_stats_report.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 48;
constexpr std::int64_t kBarLength = 40;

ReportRow ShardsRow(const StatsReport& report) {
  std::vector<ReportTable> shards;
  for (const ShardPass& shard : report.shards) {
    shards.push_back({{"file", PathForMessages(report.paths[shard.shard])},
                      {"records", shard.records},
                      {"payload_bytes", shard.payload_bytes},
                      {"bad", shard.bad.size()}});
  }
  ReportRow row = ListRow("shards", shards);
  if (!shards.empty()) {
    const auto [fewest, most] =
        std::ranges::minmax_element(report.shards, {}, &ShardPass::records);
    const auto [least, largest] = std::ranges::minmax_element(
        report.shards, {}, &ShardPass::payload_bytes);
    row.text = fmt::format("shards      {}..{} records, {}..{} each\n",
                           fewest->records, most->records,
                           FileSizeText(least->payload_bytes),
                           FileSizeText(largest->payload_bytes));
  }
  return row;
}

ReportRow CountsRow(const std::string& key,
                    const DatasetStats::Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return {key, counts,
          text.empty() ? "" : fmt::format("{:<10}  {}\n", key, text)};
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
  // Records without images need no labels.
  if (none != stats.classes.end() && !(text.empty() && stats.LacksImages())) {
    text += (text.empty() ? "" : ", ") +
            CountText(none->second.records, "record") + " without one";
  }
  return text.empty() ? "" : "labels      " + text + "\n";
}

// Of many classes only the largest and the smallest.
std::string ClassesText(const DatasetStats& stats, std::size_t max_classes) {
  const std::vector<LabelledClass> classes = ClassesBySize(stats);
  if (classes.empty()) {
    return "";
  }
  const std::int64_t most = classes.front().second->records;
  const std::int64_t least = classes.back().second->records;
  TextTable table({">label", ">records", ">share", "class"});
  const auto add = [&](std::span<const LabelledClass> some) {
    for (const LabelledClass& labelled : some) {
      const std::int64_t records = labelled.second->records;
      table.Add({std::to_string(labelled.first), std::to_string(records),
                 PercentText(records, stats.records),
                 ShortText(NameOf(labelled), kLongestName)});
    }
  };
  const std::span all(classes);
  if (all.size() <= max_classes) {
    add(all);
  } else {
    add(all.first((max_classes + 1) / 2));
    table.Add(
        {"...", "", "", fmt::format("({} more)", all.size() - max_classes)});
    add(all.last(max_classes / 2));
  }
  return fmt::format(
             "classes     {}, {}..{} records each, largest/smallest {:.1f}\n\n",
             all.size(), least, most,
             static_cast<double>(most) / static_cast<double>(least)) +
         table.Text() + "\n";
}

ReportRow ClassesRow(const DatasetStats& stats, std::size_t max_classes) {
  std::vector<ReportTable> classes;
  for (const auto& [label, found] : stats.classes) {
    classes.push_back({{"label", label},
                       {"records", found.records},
                       {"synset", found.synset},
                       {"text", found.text}});
  }
  ReportRow row = ListRow("classes", classes);
  row.text = LabelsLine(stats) + ClassesText(stats, max_classes);
  return row;
}

// With a histogram: a list of [first value, last value, count].
ReportRow TallyRow(const std::string& key, const Tally& tally,
                   const std::vector<TallyBin>& bins) {
  ReportRow row = {.key = key};
  if (!tally.empty()) {
    row.value = {{"count", tally.count()},     {"min", tally.min()},
                 {"p10", tally.Quantile(0.1)}, {"median", tally.Quantile(0.5)},
                 {"p90", tally.Quantile(0.9)}, {"max", tally.max()},
                 {"mean", tally.mean()}};
  }
  for (const TallyBin& bin : bins) {
    row.value["histogram"].push_back({bin.from, bin.to, bin.count});
  }
  return row;
}

ReportRow SizesRow(const std::string& key, const Tally& tally) {
  return TallyRow(key, tally, LogBins(tally, kBinsPerOctave));
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

ReportRow JpegRow(const DatasetStats& stats) {
  std::vector<TallyBin> qualities;
  for (const auto& [quality, times] : stats.quality.times()) {
    qualities.push_back({.from = quality, .to = quality, .count = times});
  }
  const std::string marks = fmt::format(
      "JPEGs with  a seek index {}, restart markers {}, EXIF {}, Adobe's "
      "marker {}, tables of a standard quality {}\n",
      stats.seek_indexes, stats.restart_markers, stats.exif, stats.adobe,
      stats.standard_tables);
  return ObjectRow("jpeg", {TallyRow("quality", stats.quality, qualities),
                            CountsRow("colors", stats.colors),
                            CountsRow("sampling", stats.sampling),
                            CountsRow("coding", stats.coding),
                            {"seek_index", stats.seek_indexes,
                             stats.coding.empty() ? "" : marks},
                            {"restart_markers", stats.restart_markers},
                            {"exif", stats.exif},
                            {"adobe_marker", stats.adobe},
                            {"standard_tables", stats.standard_tables}});
}

ReportRow MissingRow(const DatasetStats& stats) {
  ReportRow row = {.key = "missing", .value = Json::object()};
  for (const auto& [key, records] : MissingKeys(stats)) {
    row.value[key] = records;
    row.text +=
        fmt::format("{} {}\n",
                    records == stats.records
                        ? "all records lack"
                        : CountText(records, "record lacks", "records lack"),
                    ShownText(key));
  }
  return row;
}

// `name` is the text's name for one of the values.
ReportRow DuplicatesRow(const std::string& key, const StatsReport& report,
                        const Occurrences& occurrences,
                        const std::string& name) {
  const Duplicates found = FindDuplicates(occurrences);
  std::vector<ReportTable> examples;
  for (const auto& [times, first] : found.examples) {
    examples.push_back({{"file", PathForMessages(report.paths[first.shard])},
                        {"record", first.record},
                        {"times", times}});
  }
  ReportRow row = ObjectRow(key, {{"values", found.values},
                                  {"records", found.records},
                                  ListRow("examples", examples)});
  if (found.values > 0) {
    const RecordPlace& first = found.examples.front().first;
    row.text = fmt::format(
        "{} more than once, in {}; one is in {}: record {}\n",
        CountText(found.values, name + " occurs", name + "s occur"),
        CountText(found.records, "record"),
        ShownText(PathForMessages(report.paths[first.shard])), first.record);
  }
  return row;
}

std::string WrongSizesText(std::int64_t records) {
  return records == 0
             ? ""
             : CountText(
                   records,
                   "record has another image/height or image/width than its",
                   "records have another image/height or image/width than "
                   "their") +
                   " image\n";
}

std::string UnreadableText(std::int64_t records) {
  return records == 0 ? ""
                      : CountText(records, "record has", "records have") +
                            " a feature that cannot be parsed: it is left "
                            "out\n\n";
}

// Empty if image records have no other features.
ReportTable FeatureRows(const StatsReport& report) {
  const FeatureTable own = OwnFeatures(report);
  if (own.by_key.empty()) {
    return {};
  }
  std::vector<std::string> last;
  if (own.is_cut) {
    last = std::vector<std::string>(kFeatureColumns.size());
    last.front() = "... and more";
  }
  ReportRow row =
      TableRow("features", {kFeatureColumns.begin(), kFeatureColumns.end()},
               FeatureItems(own), last);
  row.text = fmt::format(
      "features    {}{}, with the number of values in a record and their "
      "range\n\n{}\n",
      own.by_key.size(), own.is_cut ? " and more" : "", row.text);
  return {row};
}

ReportTable ImageRows(const StatsReport& report) {
  const DatasetStats& stats = report.stats;
  ReportTable rows = {
      {"", {}, TalliesText(stats) + WidthHistogram(stats.width)},
      SizesRow("width", stats.width),
      SizesRow("height", stats.height),
      TallyRow("aspect_percent", stats.aspect_percent, {}),
      SizesRow("bytes", stats.bytes),
      CountsRow("formats", stats.formats),
      JpegRow(stats)};
  // Oddities of the data that the user may want to fix.
  ReportTable oddities = {
      MissingRow(stats),
      {"wrong_sizes", stats.wrong_sizes, WrongSizesText(stats.wrong_sizes)},
      DuplicatesRow("duplicate_names", report, stats.names, "file name"),
      DuplicatesRow("duplicate_images", report, stats.contents, "image")};
  if (!RenderText(oddities).empty()) {
    rows.push_back({"", {}, "\n"});
  }
  std::ranges::move(oddities, std::back_inserter(rows));
  return rows;
}

}  // namespace

ReportTable StatsTable(const StatsReport& report, std::size_t max_classes) {
  const DatasetStats& stats = report.stats;
  const std::int64_t records = CountRecords(report);
  const std::int64_t bad = CountBadRecords(report);
  const bool has_images = !stats.LacksImages();
  ReportTable table = {
      {"records", records,
       fmt::format("records     {} in {}, {}, {} bad\n", records,
                   CountText(report.shards.size(), "shard"),
                   has_images ? FileSizeText(stats.image_bytes) + " of images"
                              : "no images",
                   bad)},
      {"bad", bad},
      {"images", stats.images},
      {"image_bytes", stats.image_bytes},
      ShardsRow(report),
      ClassesRow(stats, max_classes),
      {"keys", stats.keys}};
  std::ranges::move(FeatureRows(report), std::back_inserter(table));
  table.push_back({"unreadable_features", stats.unreadable_features,
                   UnreadableText(stats.unreadable_features)});
  if (has_images) {
    std::ranges::move(ImageRows(report), std::back_inserter(table));
  } else {
    const std::string code = ReadingCode(report);
    table.push_back({"loader", code, "read in Python by\n\n" + code});
  }
  return table;
}

}  // namespace infeed
