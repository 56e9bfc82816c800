#pragma once

#include <string>
#include <vector>

#include "base/charts/svg_parts.h"

// Plots as SVG, to stand in an HTML page. Their colours are the page's: the
// CSS classes bar, cell, grid, tick and label.
namespace infeed {

struct ChartBar {
  std::string label;
  double value = 0;
  std::string title;  // shown under the pointer
};

// Bars that stand side by side, for histograms; some of the labels stand below
// them. "" without a bar.
[[nodiscard]] std::string ColumnChart(const std::vector<ChartBar>& bars,
                                      double width = kChartWidth);

// Bars that lie one below the other, each with its label and value.
[[nodiscard]] std::string RowChart(const std::vector<ChartBar>& bars,
                                   double width = kChartWidth);

// A square of a map; x and y count squares.
struct ChartCell {
  int x = 0;
  int y = 0;
  double value = 0;
  std::string title;
};

// What an axis says at the lower edge of a square.
struct ChartTick {
  int at = 0;
  std::string label;
};

// A two-dimensional histogram, darker where there is more; y grows upwards.
[[nodiscard]] std::string HeatMap(const std::vector<ChartCell>& cells,
                                  const std::vector<ChartTick>& x_ticks,
                                  const std::vector<ChartTick>& y_ticks);

}  // namespace infeed
