#include "tools/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace infeed {
namespace {

// Of a column chart, in the units of its view box.
constexpr double kHeight = 240;
constexpr double kLeft = 56;
constexpr double kTop = 8;
constexpr double kBottom = 24;
constexpr double kMaxColumn = 48;
constexpr double kPlotHeight = kHeight - kTop - kBottom;
constexpr std::size_t kMaxLabels = 9;
// Of a row chart.
constexpr double kRowHeight = 20;
constexpr double kNameWidth = 200;
constexpr double kValueWidth = 70;
constexpr std::size_t kCharactersOfName = 30;
// Of a map.
constexpr double kCell = 20;

std::string Open(double width, double height) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n",
      width, height);
}

std::string Text(double x, double y, std::string_view anchor,
                 std::string_view text) {
  return fmt::format(
      "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"{}\">{}</text>\n",
      x, y, anchor, EscapeXml(text));
}

std::string Line(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
      "y2=\"{:.1f}\"/>\n",
      x1, y1, x2, y2);
}

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

// 1, 2 or 5 times a power of ten, at least 1, so that about four of them reach
// to the largest.
double StepOf(double largest) {
  const double rough = std::max(largest / 4, 1.0);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) {
      return factor * power;
    }
  }
  return 10 * power;
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

std::string ColumnChart(const std::vector<ChartBar>& bars, double width) {
  if (bars.empty()) {
    return "";
  }
  const double step = StepOf(Largest(bars));
  const double top = std::max(std::ceil(Largest(bars) / step), 1.0) * step;
  const double plot_width = width - kLeft - 8;
  std::string svg = Open(width, kHeight);
  const auto steps = static_cast<int>(std::lround(top / step));
  for (int i = 0; i <= steps; ++i) {
    const double value = i * step;
    const double y = kTop + kPlotHeight * (1 - value / top);
    svg += Line(kLeft, y, kLeft + plot_width, y);
    svg += Text(kLeft - 6, y + 4, "end", fmt::format("{:.0f}", value));
  }
  const double column =
      std::min(plot_width / static_cast<double>(bars.size()), kMaxColumn);
  // Thin columns overlap a little, so that nothing shines through.
  const double gap = column > 4 ? std::min(column / 12, 3.0) : -0.5;
  const std::size_t every = (bars.size() + kMaxLabels - 1) / kMaxLabels;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double x = kLeft + column * static_cast<double>(i);
    const double height = kPlotHeight * bars[i].value / top;
    svg += Rectangle("bar",
                     {.x = x + gap / 2,
                      .y = kTop + kPlotHeight - height,
                      .width = column - gap,
                      .height = height},
                     1, bars[i].title);
    if (i % every == 0 && !bars[i].label.empty()) {
      svg += Text(x + column / 2, kHeight - 6, "middle", bars[i].label);
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
  std::string svg = Open(width, kRowHeight * static_cast<double>(bars.size()));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = kRowHeight * static_cast<double>(i);
    const double length = std::max(space * bars[i].value / largest, 0.5);
    svg += Text(kNameWidth - 6, y + 14, "end", ShortLabel(bars[i].label));
    svg += Rectangle("bar",
                     {.x = kNameWidth,
                      .y = y + 3,
                      .width = length,
                      .height = kRowHeight - 6},
                     1, bars[i].title);
    svg += Text(kNameWidth + length + 6, y + 14, "start",
                fmt::format("{:.0f}", bars[i].value));
  }
  return svg + "</svg>\n";
}

std::string HeatMap(const std::vector<ChartCell>& cells,
                    const std::vector<ChartTick>& x_ticks,
                    const std::vector<ChartTick>& y_ticks) {
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
  const double width = columns * kCell;
  const double height = rows * kCell;
  std::string svg = Open(kLeft + width + 24, kTop + height + kBottom);
  for (const ChartTick& tick : x_ticks) {
    const double x = kLeft + tick.at * kCell;
    svg += Line(x, kTop, x, kTop + height);
    svg += Text(x, kTop + height + 16, "middle", tick.label);
  }
  for (const ChartTick& tick : y_ticks) {
    const double y = kTop + height - tick.at * kCell;
    svg += Line(kLeft, y, kLeft + width, y);
    svg += Text(kLeft - 6, y + 4, "end", tick.label);
  }
  for (const ChartCell& cell : cells) {
    // The root, so that few are seen beside many.
    const double opacity = 0.08 + 0.92 * std::sqrt(cell.value / largest);
    svg += Rectangle("bar",
                     {.x = kLeft + cell.x * kCell + 0.5,
                      .y = kTop + height - (cell.y + 1) * kCell + 0.5,
                      .width = kCell - 1,
                      .height = kCell - 1},
                     opacity, cell.title);
  }
  return svg + "</svg>\n";
}

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:  // Control characters have no place in XML.
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace infeed
