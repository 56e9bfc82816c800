#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/charts/svg_parts.h"

// Curves over training steps as SVG, to stand in an HTML page. Their colours
// are the page's: the CSS classes line and dot with s1, s2, s3 for the first
// series and those after it, and mark.
namespace infeed {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points = {};  // x does not fall; NaN is a gap
  bool dots = false;                    // each point is marked, too
};

struct LineChartOptions {
  // A value of y as text; empty: a number.
  std::function<std::string(double)> y_text = {};
  bool from_zero = false;          // the axis of y has the zero
  bool whole_x = true;             // x counts something
  std::vector<double> marks = {};  // vertical lines
  std::string mark_title = {};     // under the pointer
  double width = kChartWidth;
};

// At most three series, each thinned to what can be seen, with a legend where
// there is more than one. "" without a finite point.
[[nodiscard]] std::string LineChart(const std::vector<ChartSeries>& series,
                                    const LineChartOptions& options = {});

// The same curve of at most `most` points, each the mean of its neighbours, at
// the last one's place. Requires: most > 0.
[[nodiscard]] std::vector<ChartPoint> Thinned(
    const std::vector<ChartPoint>& points, std::size_t most);

// "1.5", "0.0001", "2e+06": as short as a tick can be.
[[nodiscard]] std::string NumberText(double value);
// A fraction: "12.5 %".
[[nodiscard]] std::string ShareText(double fraction);

}  // namespace infeed
