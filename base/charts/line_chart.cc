#include "base/charts/line_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/rounding.h"

namespace infeed {
namespace {

constexpr double kHeight = 220;
constexpr double kLeft = 60;
constexpr double kRight = 16;
constexpr double kTop = 10;
constexpr double kBottom = 24;
constexpr double kLegendHeight = 20;
constexpr std::size_t kMostPoints = 400;
constexpr std::size_t kMostDots = 60;  // of a curve; more would touch

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
  [[nodiscard]] double span() const { return high - low; }
};

// The chart's data ranges and the steps of its axes.
struct Plot {
  Range x;
  Range y;
  double x_step = 1;
  double y_step = 1;
  double top = kTop;
  double left = kLeft;
  double width = kChartWidth;

  [[nodiscard]] double X(double value) const {
    return left + (width - left - kRight) * (value - x.low) / x.span();
  }
  [[nodiscard]] double Y(double value) const {
    return top + (kHeight - kTop - kBottom) * (y.high - value) / y.span();
  }
  [[nodiscard]] double bottom() const { return Y(y.low); }
};

bool IsFinite(const ChartPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

// Widens a range that is narrower than `least`.
void Widen(Range& range, double least) {
  if (range.span() < least) {
    range.low -= least / 2;
    range.high = range.low + least;
  }
}

// Widens the range of values that hardly change: the curve then looks flat, and
// four digits are enough to tell the ticks apart.
void WidenValues(Range& range) {
  constexpr double kHardly = 5e-3;
  constexpr double kAround = 0.2;
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (size == 0) {
    range.high = 1;
  } else if (range.span() < kHardly * size) {
    Widen(range, kAround * size);
  }
}

Plot MakePlot(const std::vector<ChartSeries>& series,
              const LineChartOptions& options) {
  Plot plot;
  plot.width = options.width;
  plot.left = kLeft + NameRoom(options.names.y);
  plot.top = series.size() > 1 ? kTop + kLegendHeight : kTop;
  for (const ChartSeries& curve : series) {
    for (const ChartPoint& point : curve.points) {
      if (IsFinite(point)) {
        plot.x.Add(point.x);
        plot.y.Add(point.y);
      }
    }
  }
  if (plot.y.empty()) {
    return plot;
  }
  if (options.from_zero) {
    plot.y.Add(0);
    plot.y.Add(options.reaches);
  }
  Widen(plot.x, options.whole_x ? 1 : 1e-9);
  WidenValues(plot.y);
  plot.x_step = NiceStep(plot.x.span() / 6);
  if (options.whole_x) {
    plot.x_step = std::max(plot.x_step, 1.0);
  }
  plot.y_step = NiceStep(plot.y.span() / 5);
  plot.y.low = std::floor(plot.y.low / plot.y_step) * plot.y_step;
  plot.y.high = std::ceil(plot.y.high / plot.y_step) * plot.y_step;
  return plot;
}

// Multiples of a step within a range, both ends included.
std::vector<double> Ticks(const Range& range, double step) {
  std::vector<double> ticks;
  const double slack = step * 1e-6;
  for (double i = std::ceil((range.low - slack) / step);
       i * step <= range.high + slack; ++i) {
    ticks.push_back(i == 0 ? 0 : i * step);
  }
  return ticks;
}

std::string Axes(const Plot& plot, const LineChartOptions& options) {
  std::string svg;
  for (const double value : Ticks(plot.y, plot.y_step)) {
    const double y = plot.Y(value);
    svg += SvgLine(plot.left, y, plot.width - kRight, y);
    svg += SvgText(plot.left - 6, y + 4, "end",
                   options.y_text ? options.y_text(value) : NumberText(value));
  }
  for (const double value : Ticks(plot.x, plot.x_step)) {
    svg += SvgText(
        plot.X(value), plot.bottom() + 17, "middle",
        options.whole_x ? fmt::format("{:.0f}", value) : NumberText(value));
  }
  return svg;
}

std::string Marks(const Plot& plot, const LineChartOptions& options) {
  std::string svg;
  for (const double at : options.marks) {
    if (at > plot.x.low && at < plot.x.high) {
      svg += fmt::format(
          "<line class=\"mark\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" "
          "y2=\"{2:.1f}\"><title>{3}</title></line>\n",
          plot.X(at), plot.Y(plot.y.high), plot.bottom(),
          EscapeXml(options.mark_title));
    }
  }
  return svg;
}

std::string Curve(const Plot& plot, const std::vector<ChartPoint>& points,
                  std::size_t number) {
  std::string path;
  bool drawing = false;
  for (const ChartPoint& point : points) {
    if (IsFinite(point)) {
      path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M",
                          plot.X(point.x), plot.Y(point.y));
    }
    drawing = IsFinite(point);
  }
  return fmt::format("<path class=\"line s{}\" d=\"{}\"/>\n", number, path);
}

std::string Dots(const Plot& plot, const std::vector<ChartPoint>& points,
                 std::size_t number, const LineChartOptions& options) {
  std::string svg;
  for (const ChartPoint& point : points) {
    if (IsFinite(point)) {
      svg += fmt::format(
          "<circle class=\"dot s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\">"
          "<title>step {:.0f}: {}</title></circle>\n",
          number, plot.X(point.x), plot.Y(point.y), point.x,
          EscapeXml(options.y_text ? options.y_text(point.y)
                                   : NumberText(point.y)));
    }
  }
  return svg;
}

std::string Legend(const std::vector<ChartSeries>& series) {
  std::string svg;
  double x = kLeft;
  for (std::size_t i = 0; i < series.size(); ++i) {
    svg += fmt::format("<path class=\"line s{}\" d=\"M{:.1f} 12h16\"/>\n",
                       i + 1, x);
    svg += SvgText(x + 22, 16, "start", series[i].name);
    x += 44 + 7 * static_cast<double>(series[i].name.size());
  }
  return svg;
}

}  // namespace

std::string LineChart(const std::vector<ChartSeries>& series,
                      const LineChartOptions& options) {
  const Plot plot = MakePlot(series, options);
  if (plot.y.empty()) {
    return "";
  }
  const double height = kHeight + plot.top - kTop + NameRoom(options.names.x);
  std::string svg =
      SvgOpen(options.width, height) +
      SvgAxisNames(options.names, (plot.left + plot.width - kRight) / 2,
                   (plot.top + plot.bottom()) / 2, height);
  svg += series.size() > 1 ? Legend(series) : "";
  svg += Axes(plot, options) + Marks(plot, options);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::vector<ChartPoint> points =
        Thinned(series[i].points, kMostPoints);
    svg += Curve(plot, points, i + 1);
    // A single point is drawn as a dot: it makes no line.
    if ((series[i].dots && points.size() <= kMostDots) || points.size() == 1) {
      svg += Dots(plot, points, i + 1, options);
    }
  }
  return svg + "</svg>\n";
}

std::vector<ChartPoint> Thinned(const std::vector<ChartPoint>& points,
                                std::size_t most) {
  const std::size_t group = CeilDiv(points.size(), most);
  if (group <= 1) {
    return points;
  }
  std::vector<ChartPoint> thinned;
  for (std::size_t begin = 0; begin < points.size(); begin += group) {
    const std::size_t end = std::min(points.size(), begin + group);
    ChartPoint mean{.x = points[end - 1].x, .y = 0};
    std::size_t count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (IsFinite(points[i])) {
        mean.y += points[i].y;
        ++count;
      }
    }
    // NaN when the group has no finite point.
    mean.y /= static_cast<double>(count);
    thinned.push_back(mean);
  }
  return thinned;
}

std::string NumberText(double value) { return fmt::format("{:.4g}", value); }

std::string ShareText(double fraction) {
  return fmt::format("{:.4g} %", 100 * fraction);
}

}  // namespace infeed
