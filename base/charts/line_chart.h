#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/charts/svg_parts.h"

// Curves over training steps as SVG for an HTML page. The page's CSS sets the
// colours: classes line and dot, with s1, s2, s3 for the first, second and
// third series, and mark.
namespace infeed {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points = {};  // x never falls; a NaN is a gap
  bool dots = false;                    // also mark each point
};

struct LineChartOptions {
  // Makes text of a value of y; if empty, NumberText() does.
  std::function<std::string(double)> y_text = {};
  AxisNames names = {.x = "step"};
  bool from_zero = false;  // the y axis includes 0
  double reaches = 0;      // with from_zero: the least end of the y axis
  bool whole_x = true;     // x is a count: ticks are whole
  std::vector<double> marks = {};  // x of vertical lines
  std::string mark_title = {};     // tooltip of the vertical lines
  double width = kChartWidth;
};

// Draws at most three series, each thinned to what can be seen, with a legend
// for two or more. "" if no point is finite.
[[nodiscard]] std::string LineChart(const std::vector<ChartSeries>& series,
                                    const LineChartOptions& options = {});

// Returns the curve with at most `most` points: each is the mean y of a group
// of neighbours, at the x of the group's last one. Requires: most > 0.
[[nodiscard]] std::vector<ChartPoint> Thinned(
    const std::vector<ChartPoint>& points, std::size_t most);

// "1.5", "0.0001", "2e+06": four significant digits.
[[nodiscard]] std::string NumberText(double value);
// A fraction as a percentage: "12.5 %".
[[nodiscard]] std::string ShareText(double fraction);

}  // namespace infeed
