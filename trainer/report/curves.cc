#include "trainer/report/curves.h"

#include <vector>

#include "base/charts/line_chart.h"

namespace infeed {
namespace {

template <typename Point, typename Value>
std::vector<ChartPoint> PointsOf(const std::vector<Point>& from, Value value) {
  std::vector<ChartPoint> points;
  points.reserve(from.size());
  for (const Point& point : from) {
    points.push_back({.x = static_cast<double>(point.step), .y = point.*value});
  }
  return points;
}

// Without the warm-up.
std::vector<ChartPoint> SteadyPoints(const std::vector<HistoryPoint>& from,
                                     double HistoryPoint::*value) {
  std::vector<HistoryPoint> steady;
  for (const HistoryPoint& point : from) {
    if (!point.warm_up) {
      steady.push_back(point);
    }
  }
  return PointsOf(steady, value);
}

// Only series with points.
std::vector<ChartSeries> WithPoints(std::vector<ChartSeries> series) {
  std::erase_if(series, [](const ChartSeries& s) { return s.points.empty(); });
  return series;
}

}  // namespace

ReportCurves CurvesOf(const RunHistory& history) {
  LineChartOptions options{.mark_title = "a run went on from here"};
  for (const HistoryRun& run : history.runs()) {
    options.marks.push_back(static_cast<double>(run.first_step));
  }
  LineChartOptions shares = options;
  shares.y_text = ShareText;
  shares.from_zero = true;
  LineChartOptions rates = options;
  rates.from_zero = true;
  const auto& steps = history.steps();
  const auto& evaluations = history.evaluations();
  return {
      .loss = LineChart(
          WithPoints({{"training", PointsOf(steps, &HistoryPoint::loss)},
                      {"evaluation",
                       PointsOf(evaluations, &HistoryEvaluation::loss), true}}),
          options),
      .accuracy = LineChart(
          WithPoints(
              {{"top-1, training", PointsOf(steps, &HistoryPoint::top_1)},
               {"top-1, evaluation",
                PointsOf(evaluations, &HistoryEvaluation::top_1), true},
               {"top-5, evaluation",
                PointsOf(evaluations, &HistoryEvaluation::top_5), true}}),
          shares),
      .learning_rate = LineChart(
          {{"", PointsOf(steps, &HistoryPoint::learning_rate)}}, rates),
      .images_per_second = LineChart(
          {{"", SteadyPoints(steps, &HistoryPoint::images_per_second)}}, rates),
      .input_wait = LineChart(
          {{"", SteadyPoints(steps, &HistoryPoint::input_wait)}}, shares)};
}

}  // namespace infeed
