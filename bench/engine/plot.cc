#include "bench/engine/plot.h"

#include <string_view>

#include <fmt/format.h>

#include "base/charts/html_page.h"
#include "base/charts/svg_chart.h"
#include "base/count_text.h"
#include "base/error.h"
#include "bench/engine/report.h"

namespace infeed {
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
