#pragma once

#include <string>
#include <vector>

#include "base/charts/svg_parts.h"

// Plots as SVG for an HTML page. The page's CSS sets the colours: classes bar,
// cell, grid, tick and label.
namespace infeed {

struct ChartBar {
  std::string label;
  double value = 0;
  std::string title;  // tooltip
};

// Vertical bars side by side, for histograms, with some of their labels below.
// "" if there is no bar.
[[nodiscard]] std::string ColumnChart(const std::vector<ChartBar>& bars,
                                      double width = kChartWidth,
                                      const AxisNames& names = {});

// Horizontal bars, one below the other, each with its label and value.
[[nodiscard]] std::string RowChart(const std::vector<ChartBar>& bars,
                                   double width = kChartWidth);

// A square of a heat map; x and y count squares.
struct ChartCell {
  int x = 0;
  int y = 0;
  double value = 0;
  std::string title;
};

// The label of an axis at the lower edge of a square.
struct ChartTick {
  int at = 0;
  std::string label;
};

// A two-dimensional histogram, darker for larger values; y grows upwards. As
// wide as other charts, so that its text has their size.
[[nodiscard]] std::string HeatMap(const std::vector<ChartCell>& cells,
                                  const std::vector<ChartTick>& x_ticks,
                                  const std::vector<ChartTick>& y_ticks,
                                  const AxisNames& names = {});

}  // namespace infeed
