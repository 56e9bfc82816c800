#include "base/charts/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "base/rounding.h"

namespace infeed {
namespace {

// Sizes of a column chart, in units of its view box.
constexpr double kChartHeight = 240;
constexpr double kMarginLeft = 56;
constexpr double kMarginTop = 8;
constexpr double kMarginBottom = 24;
constexpr double kMaxColumn = 48;
constexpr double kPlotHeight = kChartHeight - kMarginTop - kMarginBottom;
constexpr std::size_t kMaxLabels = 9;
// Sizes of a row chart.
constexpr double kRowHeight = 20;
constexpr double kNameWidth = 200;
constexpr double kValueWidth = 70;
constexpr std::size_t kCharactersOfName = 30;
// Sizes of a heat map.
constexpr double kMostOfCell = 20;

struct Box {
  double x;
  double y;
  double width;
  double height;
};

std::string Rectangle(std::string_view kind, const Box& box, double opacity,
                      std::string_view title) {
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
      "height=\"{:.2f}\" fill-opacity=\"{:.3f}\"><title>{}</title></rect>\n",
      kind, box.x, box.y, box.width, box.height, opacity, EscapeXml(title));
}

double Largest(const std::vector<ChartBar>& bars) {
  double largest = 0;
  for (const ChartBar& bar : bars) {
    largest = std::max(largest, bar.value);
  }
  return largest;
}

// Labels of columns must not touch.
double WidestLabel(const std::vector<ChartBar>& bars) {
  constexpr double kCharacter = 6.5;
  std::size_t longest = 0;
  for (const ChartBar& bar : bars) {
    longest = std::max(longest, bar.label.size());
  }
  return kCharacter * static_cast<double>(longest);
}

std::string ShortLabel(const std::string& label) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(label[i]) & 0xC0) != 0x80;
    if (starts && ++characters > kCharactersOfName) {
      return label.substr(0, i) + "\xE2\x80\xA6";
    }
  }
  return label;
}

}  // namespace

std::string ColumnChart(const std::vector<ChartBar>& bars, double width,
                        const AxisNames& names) {
  if (bars.empty()) {
    return "";
  }
  const double step = NiceStep(std::max(Largest(bars) / 4, 1.0));
  const double top = std::max(std::ceil(Largest(bars) / step), 1.0) * step;
  const double left = kMarginLeft + NameRoom(names.y);
  const double plot_width = width - left - 8;
  const double height = kChartHeight + NameRoom(names.x);
  std::string svg = SvgOpen(width, height) +
                    SvgAxisNames(names, left + plot_width / 2,
                                 kMarginTop + kPlotHeight / 2, height);
  const auto steps = static_cast<int>(std::lround(top / step));
  for (int i = 0; i <= steps; ++i) {
    const double value = i * step;
    const double y = kMarginTop + kPlotHeight * (1 - value / top);
    svg += SvgLine(left, y, left + plot_width, y);
    svg += SvgText(left - 6, y + 4, "end", fmt::format("{:.0f}", value));
  }
  const double column =
      std::min(plot_width / static_cast<double>(bars.size()), kMaxColumn);
  // Thin columns overlap a little, so that no gaps are visible.
  const double gap = column > 4 ? std::min(column / 12, 3.0) : -0.5;
  const std::size_t every =
      std::max(CeilDiv<std::size_t>(bars.size(), kMaxLabels),
               static_cast<std::size_t>(std::ceil(WidestLabel(bars) / column)));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double x = left + column * static_cast<double>(i);
    const double tall = kPlotHeight * bars[i].value / top;
    svg += Rectangle("bar",
                     {.x = x + gap / 2,
                      .y = kMarginTop + kPlotHeight - tall,
                      .width = column - gap,
                      .height = tall},
                     1, bars[i].title);
    if (i % every == 0 && !bars[i].label.empty()) {
      svg += SvgText(x + column / 2, kChartHeight - 6, "middle", bars[i].label);
    }
  }
  return svg + "</svg>\n";
}

std::string RowChart(const std::vector<ChartBar>& bars, double width) {
  if (bars.empty()) {
    return "";
  }
  const double largest = std::max(Largest(bars), 1e-9);
  const double space = width - kNameWidth - kValueWidth;
  std::string svg =
      SvgOpen(width, kRowHeight * static_cast<double>(bars.size()));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = kRowHeight * static_cast<double>(i);
    const double length = std::max(space * bars[i].value / largest, 0.5);
    svg += SvgText(kNameWidth - 6, y + 14, "end", ShortLabel(bars[i].label));
    svg += Rectangle("bar",
                     {.x = kNameWidth,
                      .y = y + 3,
                      .width = length,
                      .height = kRowHeight - 6},
                     1, bars[i].title);
    svg += SvgText(kNameWidth + length + 6, y + 14, "start",
                   fmt::format("{:.0f}", bars[i].value));
  }
  return svg + "</svg>\n";
}

std::string HeatMap(const std::vector<ChartCell>& cells,
                    const std::vector<ChartTick>& x_ticks,
                    const std::vector<ChartTick>& y_ticks,
                    const AxisNames& names) {
  if (cells.empty()) {
    return "";
  }
  int columns = 0;
  int rows = 0;
  double largest = 0;
  for (const ChartCell& cell : cells) {
    columns = std::max(columns, cell.x + 1);
    rows = std::max(rows, cell.y + 1);
    largest = std::max(largest, cell.value);
  }
  for (const ChartTick& tick : x_ticks) {
    columns = std::max(columns, tick.at);
  }
  for (const ChartTick& tick : y_ticks) {
    rows = std::max(rows, tick.at);
  }
  const double left = kMarginLeft + NameRoom(names.y);
  const double side = std::min(
      kMostOfCell, (kChartWidth - left - 24) / std::max(columns, rows));
  const double width = columns * side;
  const double height = rows * side;
  const double bottom = kMarginTop + height + kMarginBottom + NameRoom(names.x);
  std::string svg =
      SvgOpen(kChartWidth, bottom) +
      SvgAxisNames(names, left + width / 2, kMarginTop + height / 2, bottom);
  for (const ChartTick& tick : x_ticks) {
    const double x = left + tick.at * side;
    svg += SvgLine(x, kMarginTop, x, kMarginTop + height);
    svg += SvgText(x, kMarginTop + height + 16, "middle", tick.label);
  }
  for (const ChartTick& tick : y_ticks) {
    const double y = kMarginTop + height - tick.at * side;
    svg += SvgLine(left, y, left + width, y);
    svg += SvgText(left - 6, y + 4, "end", tick.label);
  }
  for (const ChartCell& cell : cells) {
    // The square root keeps small counts visible beside large ones.
    const double opacity = 0.08 + 0.92 * std::sqrt(cell.value / largest);
    svg += Rectangle("bar",
                     {.x = left + cell.x * side + 0.5,
                      .y = kMarginTop + height - (cell.y + 1) * side + 0.5,
                      .width = side - 1,
                      .height = side - 1},
                     opacity, cell.title);
  }
  return svg + "</svg>\n";
}

}  // namespace infeed
