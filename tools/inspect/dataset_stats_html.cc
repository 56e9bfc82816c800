#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/charts/html_page.h"
#include "base/charts/svg_chart.h"
#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "records/files/open_source.h"
#include "tools/cli/report_table.h"
#include "tools/inspect/dataset_stats_report.h"
#include "tools/inspect/thumbnail.h"

namespace infeed {
namespace {

constexpr int kThumbnailSize = 128;
constexpr std::size_t kMaxRows = 40;       // for a row per class
constexpr std::size_t kMaxNamed = 10;      // else: largest, smallest
constexpr double kWide = 2 * kChartWidth;  // width of a chart over both columns

std::string Tiles(const StatsReport& report) {
  const DatasetStats& stats = report.stats;
  std::vector<std::string> tiles;
  const auto add = [&tiles](std::string_view value, std::string_view name) {
    tiles.push_back(HtmlTile(value, name));
  };
  const auto add_count = [&](std::int64_t count, std::string_view one,
                             std::string_view many) {
    add(std::to_string(count), count == 1 ? one : many);
  };
  add_count(CountRecords(report), "record", "records");
  add_count(std::ssize(report.shards), "shard", "shards");
  if (!stats.LacksImages()) {
    add_count(std::ssize(stats.classes), "class", "classes");
    add(FileSizeText(stats.image_bytes), "of images");
  }
  if (!stats.width.empty()) {
    add(fmt::format("{} &times; {}", stats.width.Quantile(0.5),
                    stats.height.Quantile(0.5)),
        "median width and height");
  }
  if (!stats.quality.empty()) {
    add(std::to_string(stats.quality.Quantile(0.5)), "median JPEG quality");
  }
  add_count(CountBadRecords(report), "bad record", "bad records");
  return HtmlTiles(tiles);
}

ChartBar MakeBar(const LabelledClass& labelled) {
  const auto& [label, found] = labelled;
  return {.label = NameOf(labelled),
          .value = static_cast<double>(found->records),
          .title = fmt::format("{} (label {}): {}", NameOf(labelled), label,
                               CountText(found->records, "record"))};
}

std::string ClassRows(const std::vector<LabelledClass>& classes,
                      double width = kChartWidth) {
  std::vector<ChartBar> bars;
  bars.reserve(classes.size());
  for (const LabelledClass& labelled : classes) {
    bars.push_back(MakeBar(labelled));
  }
  return RowChart(bars, width);
}

constexpr const char* kRecords = "records";

// Charts of the classes: a few with their names; of many the distribution of
// sizes, and the largest and smallest.
std::vector<HtmlBox> ClassCards(const DatasetStats& stats) {
  const std::vector<LabelledClass> classes = ClassesBySize(stats);
  if (classes.size() <= kMaxRows) {
    return {{"Records of each class", ClassRows(classes, kWide), "wide"}};
  }
  std::vector<ChartBar> bars;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    bars.push_back(MakeBar(classes[i]));
    bars.back().label = std::to_string(i + 1);
  }
  const auto named = static_cast<std::ptrdiff_t>(kMaxNamed);
  return {{"Records of each class, the largest first",
           ColumnChart(bars, kWide, {.x = "classes", .y = kRecords}), "wide"},
          {"The largest classes",
           ClassRows({classes.begin(), classes.begin() + named})},
          {"The smallest classes",
           ClassRows({classes.end() - named, classes.end()})}};
}

template <typename Label>
std::string Histogram(const Tally& tally, const char* x, Label label) {
  std::vector<ChartBar> bars;
  for (const TallyBin& bin : LogBins(tally, kBinsPerOctave)) {
    bars.push_back({.label = label(static_cast<double>(bin.from)),
                    .value = static_cast<double>(bin.count),
                    .title = fmt::format(
                        "{} to {}: {}", label(static_cast<double>(bin.from)),
                        label(static_cast<double>(bin.to)), bin.count)});
  }
  return ColumnChart(bars, kChartWidth, {.x = x, .y = kRecords});
}

std::string QualityHistogram(const Tally& quality) {
  std::vector<ChartBar> bars;
  if (!quality.empty()) {
    for (std::int64_t value = quality.min(); value <= quality.max(); ++value) {
      const auto found = quality.times().find(value);
      const std::int64_t count =
          found == quality.times().end() ? 0 : found->second;
      bars.push_back({.label = std::to_string(value),
                      .value = static_cast<double>(count),
                      .title = fmt::format("quality {}: {}", value, count)});
    }
  }
  return ColumnChart(bars, kChartWidth, {.x = "quality", .y = kRecords});
}

// Ticks at the powers of two among the bins' edges.
std::vector<ChartTick> OctaveTicks(int first, int last) {
  std::vector<ChartTick> ticks;
  for (int bin = first; bin <= last + 1; ++bin) {
    if (bin % kBinsPerOctave == 0) {
      ticks.push_back(
          {.at = bin - first,
           .label = fmt::format("{:.0f}", std::exp2(bin / kBinsPerOctave))});
    }
  }
  return ticks;
}

// The first and the last bin of a map's axis: whole octaves, at least three,
// so that there is a label at each end.
struct AxisRange {
  int first = 0;
  int last = 0;
};

AxisRange WholeOctaves(int first, int last) {
  int first_octave = first / kBinsPerOctave;
  int last_octave = last / kBinsPerOctave;
  if (last_octave - first_octave < 2) {
    first_octave = std::max(first_octave - 1, 0);
    ++last_octave;
  }
  return {.first = first_octave * kBinsPerOctave,
          .last = (last_octave + 1) * kBinsPerOctave - 1};
}

std::string SizeMap(const DatasetStats& stats) {
  if (stats.sizes.empty()) {
    return "";
  }
  int min_y = stats.sizes.begin()->first.second;
  int max_y = min_y;
  for (const auto& [bin, count] : stats.sizes) {
    min_y = std::min(min_y, bin.second);
    max_y = std::max(max_y, bin.second);
  }
  const AxisRange x = WholeOctaves(stats.sizes.begin()->first.first,
                                   stats.sizes.rbegin()->first.first);
  const AxisRange y = WholeOctaves(min_y, max_y);
  const auto edge = [](int bin) {
    return std::exp2(static_cast<double>(bin) / kBinsPerOctave);
  };
  std::vector<ChartCell> cells;
  for (const auto& [bin, count] : stats.sizes) {
    cells.push_back(
        {.x = bin.first - x.first,
         .y = bin.second - y.first,
         .value = static_cast<double>(count),
         .title = fmt::format("width from {:.0f}, height from {:.0f}: {}",
                              edge(bin.first), edge(bin.second), count)});
  }
  return HeatMap(cells, OctaveTicks(x.first, x.last),
                 OctaveTicks(y.first, y.last),
                 {.x = "width, pixels", .y = "height, pixels"}) +
         "<p class=\"note\">each axis in quarters of a doubling</p>\n";
}

std::string CountsTable(const DatasetStats& stats) {
  std::string rows;
  const auto add = [&](std::string_view group, std::string_view name,
                       std::int64_t count) {
    rows +=
        fmt::format("<tr><td>{} {}</td><td>{}</td><td>{}</td></tr>\n", group,
                    EscapeXml(name), count, PercentText(count, stats.records));
  };
  const auto add_all = [&](std::string_view group,
                           const DatasetStats::Counts& counts) {
    for (const auto& [name, count] : counts) {
      add(group, name, count);
    }
  };
  add_all("format:", stats.formats);
  add_all("color:", stats.colors);
  add_all("sampling:", stats.sampling);
  add_all("coding:", stats.coding);
  add("with", "restart markers", stats.restart_markers);
  add("with", "a seek index", stats.seek_indexes);
  add("with", "EXIF", stats.exif);
  add("with", "Adobe's marker", stats.adobe);
  for (const auto& [key, records] : MissingKeys(stats)) {
    add("without", key, records);
  }
  add("with", "a wrong height or width", stats.wrong_sizes);
  add("with", "a file name that others have",
      FindDuplicates(stats.names).records);
  add("with", "an image that others have",
      FindDuplicates(stats.contents).records);
  return "<table>\n<tr><th>what</th><th>records</th><th>share</th></tr>\n" +
         rows + "</table>\n";
}

std::string FeaturesTable(const StatsReport& report) {
  std::vector<std::string> columns(kFeatureColumns.begin(),
                                   kFeatureColumns.end());
  for (std::string& column : columns) {
    column.erase(0, column.starts_with('>') ? 1 : 0);
  }
  const FeatureTable own = OwnFeatures(report);
  std::vector<std::vector<std::string>> rows;
  for (const ReportTable& item : FeatureItems(own)) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      row.push_back(EscapeXml(item.at(i).text));
    }
  }
  const std::string code = ReadingCode(report);
  return HtmlTable(columns, rows) +
         (own.is_cut ? "<p class=\"note\">and more</p>\n" : "") +
         (code.empty() ? "" : "<pre>" + EscapeXml(code) + "</pre>\n");
}

// The shards by their names, which begin with their splits; of many, some have
// their names.
std::string ShardChart(const StatsReport& report) {
  std::vector<std::pair<std::string, const ShardPass*>> shards;
  for (const ShardPass& shard : report.shards) {
    shards.emplace_back(PathForMessages(report.paths[shard.shard]), &shard);
  }
  std::ranges::sort(shards);
  std::vector<ChartBar> bars;
  for (const auto& [path, shard] : shards) {
    bars.push_back({.label = path.substr(path.rfind('/') + 1),
                    .value = static_cast<double>(shard->records),
                    .title = fmt::format("{}: {}, {}", path,
                                         CountText(shard->records, "record"),
                                         FileSizeText(shard->payload_bytes))});
  }
  return bars.size() <= kMaxRows
             ? RowChart(bars, kWide)
             : ColumnChart(bars, kWide, {.x = "shards", .y = kRecords});
}

std::string Photographs(const StatsReport& report) {
  std::string figures;
  for (const SampleImage& sample : report.stats.samples) {
    try {
      const std::string small =
          Thumbnail(std::as_bytes(std::span(sample.encoded)), kThumbnailSize);
      const std::string caption =
          EscapeXml(sample.text.empty() ? fmt::format("label {}", sample.label)
                                        : sample.text);
      figures += fmt::format(
          "<figure><img width=\"{0}\" height=\"{0}\" alt=\"{1}\" "
          "src=\"data:image/jpeg;base64,{2}\"><figcaption "
          "title=\"{1}\">{1}</figcaption></figure>\n",
          kThumbnailSize, caption, Base64(small));
    } catch (const DataError&) {
      continue;  // `verify --decode` reports it; skip it here.
    }
  }
  return figures.empty() ? "" : "<div class=\"photos\">" + figures + "</div>\n";
}

}  // namespace

std::string StatsHtml(const StatsReport& report) {
  const DatasetStats& stats = report.stats;
  const auto number = [](double value) { return fmt::format("{:.0f}", value); };
  const auto size = [](double bytes) {
    return FileSizeText(std::llround(bytes));
  };
  std::vector<HtmlBox> boxes = {
      {"Images, drawn at random", Photographs(report), "wide"}};
  std::ranges::move(ClassCards(stats), std::back_inserter(boxes));
  boxes.push_back({"Features: values of a record, and their range",
                   FeaturesTable(report), "wide"});
  const std::vector<HtmlBox> more = {
      {"Width and height", SizeMap(stats)},
      {"What the records are", stats.LacksImages() ? "" : CountsTable(stats)},
      {"Width", Histogram(stats.width, "width, pixels", number)},
      {"Height", Histogram(stats.height, "height, pixels", number)},
      {"Bytes of an image", Histogram(stats.bytes, "size of an image", size)},
      {"JPEG quality, from the quantization tables",
       QualityHistogram(stats.quality)},
      {"Records of each shard", ShardChart(report), "wide"}};
  boxes.insert(boxes.end(), more.begin(), more.end());
  return HtmlPage("Data set", Tiles(report) + HtmlCards(std::move(boxes)));
}

}  // namespace infeed
