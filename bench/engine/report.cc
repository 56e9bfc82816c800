#include "bench/engine/report.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/charts/html_page.h"
#include "base/charts/svg_chart.h"
#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/stats/text.h"
#include "pipeline/stats/verdict.h"
#include "preprocess/pixels/simd_target.h"
#include "records/bytes/byte_size.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

// A number that may not have been measured, in JSON and as a cell: divided, and
// with its unit.
ReportRow OptionalRow(const std::string& key,
                      const std::optional<double>& value, int digits,
                      double divisor, const char* unit) {
  return value ? ReportRow{key, *value,
                           fmt::format("{:.{}f}{}", *value / divisor, digits,
                                       unit)}
               : ReportRow{key, Json(), "-"};
}

// Whether a single stage was measured: a whole pipeline has several.
bool IsStageAlone(const ThroughputRun& run) {
  return run.stats.stages.size() == 1;
}

// The text of a whole pipeline's run, between its verdict and its memory.
std::string PipelineText(const ThroughputRun& run) {
  std::string text =
      run.stats.has_images ? SeekIndexText(run.stats.seek_indexes) + "\n" : "";
  text += WorkerTable(run.stats) + QueueText(run.stats) + "\n";
  if (run.stats.bad_records > 0) {
    text += fmt::format("bad records: {}, the first: {}\n",
                        run.stats.bad_records, run.stats.first_bad_record);
  }
  return text + fmt::format("\ntime to first batch: {:.3f} s\n",
                            run.stats.first_batch_seconds);
}

ReportRow RunsRow(const std::vector<ThroughputRun>& runs) {
  std::vector<std::string> columns;
  for (const char* const column : kRunColumns) {
    columns.push_back(std::string(">") + column);
  }
  columns[1] = fmt::format(">{}/s", runs.front().stats.items_name());
  std::vector<ReportTable> rows;
  for (const ThroughputRun& run : runs) {
    rows.push_back(RunRows(run));
  }
  return TableRow("runs", columns, rows);
}

}  // namespace

const ThroughputRun& FastestRun(const std::vector<ThroughputRun>& runs) {
  return *std::ranges::max_element(runs, {}, &ThroughputRun::median);
}

std::string VerdictText(const ThroughputRun& run) {
  if (IsStageAlone(run)) {
    return fmt::format(
        "{} alone: {:.1f} images/s, {:.1f} of each thread; an upper bound for "
        "a pipeline with {}",
        run.stats.stages.front().name, run.median(), run.median() / run.threads,
        CountText(run.threads, "thread"));
  }
  return Verdict(run.stats) +
         (run.load && run.load->is_too_high()
              ? "; " + run.load->Text() + ": without them this would be faster"
              : "");
}

ReportTable RunRows(const ThroughputRun& run) {
  const double min = run.images_per_second.front();
  const double max = run.images_per_second.back();
  ReportTable rows = {{.text = std::to_string(run.threads)},
                      {.text = fmt::format("{:.1f}", run.median())},
                      {.text = fmt::format("{:.1f}", min)},
                      {.text = fmt::format("{:.1f}", max)},
                      {.text = fmt::format("{:.1f} %", 100 * run.spread())},
                      {"cpu_seconds_per_1000_images", run.cpu_seconds_per_1000,
                       fmt::format("{:.3f}", run.cpu_seconds_per_1000)},
                      OptionalRow("instructions_per_1000_images",
                                  run.instructions_per_1000, 2, 1e9, ""),
                      OptionalRow("input_wait", run.input_wait, 1, 0.01, " %")};
  const Json stats = Json::parse(StatsJson(run.stats));
  for (const auto& [key, value] : stats.items()) {
    rows.push_back({key, value});
  }
  rows.push_back({"images_per_second",
                  {{"median", run.median()},
                   {"min", min},
                   {"max", max},
                   {"spread", run.spread()},
                   {"rounds", run.images_per_second}}});
  rows.push_back({"verdict", VerdictText(run)});
  return rows;
}

ReportTable ThroughputReport(const std::vector<ThroughputRun>& runs,
                             const ThroughputOptions& options,
                             std::int64_t records,
                             std::int64_t peak_rss_bytes) {
  const ThroughputRun& fastest = FastestRun(runs);
  const ReportRow all = RunsRow(runs);
  ReportTable report = RunRows(fastest);
  for (ReportRow& row : report) {
    row.text.clear();
  }
  const InputOptions& input = options.input;
  const bool alone = IsStageAlone(fastest);
  const ReportTable rest = {
      {.text = fmt::format("{}\nThe median round with {}:\n{}\n{}\n", all.text,
                           CountText(fastest.threads, "thread"),
                           StageTable(fastest.stats), VerdictText(fastest))},
      {.text = alone ? "" : PipelineText(fastest)},
      {"peak_rss_bytes", peak_rss_bytes,
       fmt::format("peak memory: {} of the whole process, libraries included\n",
                   MemorySizeText(peak_rss_bytes))},
      {.text = alone ? "" : MemoryText(fastest.memory) + "\n"},
      {"simd_target", CurrentSimdTarget()},
      {"records", records},
      {"batch_size", input.batch_size},
      {"image_size", input.preprocess.image_size},
      {"recipe", ChoiceName(input.preprocess.recipe, kRecipes)},
      {"scaled_decode", input.preprocess.scaled_decode},
      {"training", input.training},
      {"seed", input.seed},
      {"seconds", options.seconds},
      {"graph", ChoiceName(input.graph, kGraphKinds)},
      {"device_rate", options.device_rate},
      {all.key, all.value}};
  report.insert(report.end(), rest.begin(), rest.end());
  return report;
}

namespace {

constexpr double kWidth = 640;
constexpr double kRow = 20;      // height of a row of a chart
constexpr double kHeading = 28;  // space above each plot
constexpr std::string_view kStyle =
    "<style>.bar{fill:#3b6fd4}.grid{stroke:#dde1e8}"
    ".tick{fill:#667085;font:11px system-ui,sans-serif}"
    ".label{fill:#1d2430;font:bold 13px system-ui,sans-serif}</style>\n";

std::vector<ChartBar> Rates(const std::vector<ThroughputRun>& runs) {
  std::vector<ChartBar> bars;
  for (const ThroughputRun& run : runs) {
    bars.push_back({.label = CountText(run.threads, "thread"),
                    .value = run.median(),
                    .title = fmt::format("{:.1f} to {:.1f} images/s",
                                         run.images_per_second.front(),
                                         run.images_per_second.back())});
  }
  return bars;
}

// The stages' shares, in percent of the threads' time.
std::vector<ChartBar> Shares(const PipelineStats& stats) {
  const double all = stats.elapsed_seconds * stats.threads;
  std::vector<ChartBar> bars;
  for (const StageStats& stage : stats.stages) {
    bars.push_back({.label = stage.name,
                    .value = all > 0 ? 100 * stage.busy_seconds / all : 0,
                    .title = fmt::format("{:.2f} s of {:.2f} s",
                                         stage.busy_seconds, all)});
  }
  return bars;
}

constexpr const char* kRatesTitle = "images per second";

std::string SharesTitle(const ThroughputRun& run) {
  return "% of the time of " + CountText(run.threads, "thread");
}

// A plot under its heading, y units down the drawing.
std::string Placed(double y, const std::string& heading,
                   const std::vector<ChartBar>& bars) {
  return fmt::format(
      "<text class=\"label\" x=\"8\" y=\"{:.0f}\">{}</text>\n"
      "<svg y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\">\n{}</svg>\n",
      y + 18, EscapeXml(heading), y + kHeading, kWidth,
      kRow * static_cast<double>(bars.size()), RowChart(bars, kWidth));
}

std::string Table(const std::vector<ThroughputRun>& runs) {
  std::vector<std::vector<std::string>> cells;
  for (const ThroughputRun& run : runs) {
    std::vector<std::string>& row = cells.emplace_back();
    const ReportTable rows = RunRows(run);
    for (std::size_t i = 0; i < kRunColumns.size(); ++i) {
      row.push_back(rows[i].text);
    }
  }
  return HtmlTable({kRunColumns.begin(), kRunColumns.end()}, cells);
}

std::string ThroughputSvg(const std::vector<ThroughputRun>& runs) {
  const std::vector<ChartBar> rates = Rates(runs);
  const ThroughputRun& fastest = FastestRun(runs);
  const std::vector<ChartBar> shares = Shares(fastest.stats);
  const double second = kHeading + kRow * static_cast<double>(rates.size()) + 8;
  const double height =
      second + kHeading + kRow * static_cast<double>(shares.size()) + 8;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\">\n",
             kWidth, height) +
         std::string(kStyle) + Placed(0, kRatesTitle, rates) +
         Placed(second, SharesTitle(fastest), shares) + "</svg>\n";
}

std::string ThroughputHtml(const std::vector<ThroughputRun>& runs,
                           const std::string& title) {
  const ThroughputRun& fastest = FastestRun(runs);
  std::vector<std::string> tiles = {
      HtmlTile(fmt::format("{:.0f}", fastest.median()), "images per second"),
      HtmlTile(fmt::format("{:.3f} s", fastest.stats.first_batch_seconds),
               "to the first batch")};
  if (fastest.input_wait) {
    tiles.push_back(HtmlTile(fmt::format("{:.1f} %", 100 * *fastest.input_wait),
                             "of its time the device waits"));
  }
  return HtmlPage(
      EscapeXml(title),
      HtmlTiles(tiles) +
          HtmlCards({{"What bounds it",
                      "<p>" + EscapeXml(VerdictText(fastest)) + "</p>", "wide"},
                     {kRatesTitle, RowChart(Rates(runs))},
                     {SharesTitle(fastest), RowChart(Shares(fastest.stats))},
                     {"Runs", Table(runs), "wide"}}));
}

}  // namespace

void CheckPlotName(const std::string& path) {
  if (!path.ends_with(".svg") && !path.ends_with(".html")) {
    throw UsageError("--plot " + path + ": give a name in .svg or .html");
  }
}

std::string ThroughputPlot(const std::string& path,
                           const std::vector<ThroughputRun>& runs,
                           const std::string& title) {
  CheckPlotName(path);
  return path.ends_with(".svg") ? ThroughputSvg(runs)
                                : ThroughputHtml(runs, title);
}

}  // namespace infeed
