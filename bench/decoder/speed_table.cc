#include "bench/decoder/speed_table.h"

#include <fmt/format.h>

namespace infeed {
namespace {

std::string GoalText(const SpeedRow& row) {
  std::string text = row.goal == 0 ? "-" : fmt::format("{:.4g}x", row.goal);
  if (row.at_most > 0) {
    text += fmt::format(", {:.4g} us", row.at_most);
  }
  return text;
}

std::string MetText(bool has_goal, bool is_met) {
  return !has_goal ? "-" : is_met ? "yes" : "NO";
}

ReportTable RowOf(const SpeedRow& row) {
  ReportTable cells = {
      {"what", row.what, row.what},
      {"rival", row.rival, row.rival},
      {"theirs_us", row.theirs, fmt::format("{:.1f}", row.theirs)},
      {"ours_us", row.ours, fmt::format("{:.1f}", row.ours)},
      {"ratio", row.ratio(), fmt::format("{:.2f}x", row.ratio())},
      {"goal", row.goal, GoalText(row)},
      {"met", row.is_met(), MetText(row.goal > 0, row.is_met())}};
  if (row.theirs_mean > 0) {
    cells.push_back({"theirs_mean_us", row.theirs_mean});
  }
  if (row.at_most > 0) {
    cells.push_back({"at_most_us", row.at_most});
  }
  return cells;
}

ReportTable FigureOf(const SpeedFigure& figure) {
  return {{.text = fmt::format("{}: {:.4g} {} (goal: {} {:.4g}; met: {})\n",
                               figure.what, figure.value, figure.unit,
                               figure.is_ceiling ? "at most" : "at least",
                               figure.goal, MetText(true, figure.is_met()))},
          {"what", figure.what},
          {"value", figure.value},
          {"unit", figure.unit},
          {"goal", figure.goal},
          {"ceiling", figure.is_ceiling},
          {"met", figure.is_met()}};
}

}  // namespace

ReportTable SpeedTable(const SpeedReport& report) {
  std::vector<ReportTable> rows;
  for (const SpeedRow& row : report.rows) {
    rows.push_back(RowOf(row));
  }
  std::vector<ReportTable> figures;
  for (const SpeedFigure& figure : report.figures) {
    figures.push_back(FigureOf(figure));
  }
  return {{"cpu", report.cpu, report.cpu + ", "},
          {"target", report.target, "SIMD target " + report.target},
          {"versions", report.versions,
           fmt::format(", {}\n", fmt::join(report.versions, ", "))},
          {"images", report.images, fmt::format("{} images, ", report.images)},
          {"windows", report.windows,
           fmt::format("{} windows each; medians over them of the least of ",
                       report.windows)},
          {"repetitions", report.repetitions,
           fmt::format("{} repetitions, one core\n\n", report.repetitions)},
          TableRow("rows",
                   {"what", "rival", ">theirs us", ">ours us", ">ratio",
                    ">goal", ">met"},
                   rows),
          {.text = "\n"},
          ListRow("figures", figures)};
}

}  // namespace infeed
