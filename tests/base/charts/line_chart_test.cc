#include "base/charts/line_chart.h"

#include <cmath>
#include <limits>
#include <set>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(LineChartTest, DrawsToScale) {
  // The plot is 564 units wide and 186 high, from (60, 10).
  EXPECT_THAT(LineChart({{"loss", {{0, 0}, {50, 4}, {100, 2}}}}),
              AllOf(HasSubstr("viewBox=\"0 0 640 236\""),
                    HasSubstr("d=\"M60.0 196.0L342.0 10.0L624.0 103.0\""),
                    HasSubstr(">4</text>"), HasSubstr(">100</text>")));
  // The line breaks where there is no number; a point that is alone is marked.
  EXPECT_THAT(LineChart({{"loss", {{0, 0}, {1, 1}, {2, kNan}, {3, 1}}}}),
              HasSubstr("L248.0 10.0M624.0 10.0\""));
  EXPECT_THAT(LineChart({{"loss", {{7, 2}}}}),
              HasSubstr("<title>step 7: 2</title>"));
  EXPECT_EQ(LineChart({}), "");
  EXPECT_EQ(LineChart({{"a", {{0, kNan}}}}), "");
}

TEST(LineChartTest, HasALegendForMoreThanOne) {
  const ChartSeries train{"train", {{0, 1}, {1, 2}}};
  const ChartSeries eval{"a < b", {{1, 2}}};
  EXPECT_THAT(LineChart({train, eval}),
              AllOf(HasSubstr(">train</text>"), HasSubstr(">a &lt; b</text>"),
                    HasSubstr("class=\"line s2\""),
                    HasSubstr("viewBox=\"0 0 640 256\"")));
  EXPECT_THAT(LineChart({train}), Not(HasSubstr(">train</text>")));
}

TEST(LineChartTest, MarksWhereSomethingWas) {
  const std::string svg =
      LineChart({{"loss", {{0, 1}, {10, 2}}}},
                {.marks = {0, 5}, .mark_title = "a new run"});
  EXPECT_THAT(svg, HasSubstr("class=\"mark\" x1=\"342.0\""));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"mark\" x1=\"60.0\"")));
}

TEST(LineChartTest, WritesSharesAndBeginsAtZeroWhereAsked) {
  const std::string svg = LineChart({{"top-1", {{0, 0.5}, {1, 1}}}},
                                    {.y_text = ShareText, .from_zero = true});
  EXPECT_THAT(svg, AllOf(HasSubstr(">0 %</text>"), HasSubstr(">100 %</text>")));
}

TEST(LineChartTest, DividesWhatIsNoCount) {
  const std::vector<ChartSeries> roc = {{"", {{0, 0}, {1, 1}}}};
  EXPECT_THAT(LineChart(roc, {.whole_x = false}),
              HasSubstr("text-anchor=\"middle\">0.2</text>"));
  EXPECT_THAT(LineChart(roc),
              Not(HasSubstr("text-anchor=\"middle\">0.2</text>")));
}

// An axis needs some width to divide.
TEST(LineChartTest, DrawsWhatDoesNotChange) {
  const std::string svg = LineChart({{"a", {{0, 3}, {9, 3}}}});
  EXPECT_THAT(svg, AllOf(HasSubstr("<path"), Not(HasSubstr("nan"))));
  EXPECT_THAT(LineChart({{"a", {{0, 0}, {0, 0}}}}), Not(HasSubstr("nan")));
}

// The texts of the axis of y, from below.
std::vector<std::string> TicksOf(const std::string& svg) {
  const std::string begin = "text-anchor=\"end\">";
  std::vector<std::string> ticks;
  for (std::size_t at = svg.find(begin); at != std::string::npos;
       at = svg.find(begin, at)) {
    at += begin.size();
    ticks.push_back(svg.substr(at, svg.find('<', at) - at));
  }
  return ticks;
}

TEST(LineChartTest, HasRoundTicksAroundWhatHardlyChanges) {
  const auto ticks = [](double from, double to,
                        const LineChartOptions& options = {}) {
    return TicksOf(LineChart({{"a", {{0, from}, {9, to}}}}, options));
  };
  EXPECT_THAT(ticks(3, 3), ElementsAre("2.6", "2.8", "3", "3.2", "3.4"));
  EXPECT_THAT(ticks(-3, -3.001),
              ElementsAre("-3.4", "-3.2", "-3", "-2.8", "-2.6"));
  EXPECT_THAT(ticks(0, 0), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(ticks(0, 0, {.y_text = ShareText, .from_zero = true}),
              ElementsAre("0 %", "20 %", "40 %", "60 %", "80 %", "100 %"));
  EXPECT_THAT(ticks(0.1, 0.1, {.from_zero = true}),
              ElementsAre("0", "0.02", "0.04", "0.06", "0.08", "0.1"));
}

// Noise must not fill the chart.
TEST(LineChartTest, ReachesAsHighAsAsked) {
  const auto top = [](double highest) {
    return TicksOf(
               LineChart(
                   {{"a", {{0, 0}, {9, highest}}}},
                   {.y_text = ShareText, .from_zero = true, .reaches = 0.05}))
        .back();
  };
  EXPECT_EQ(top(1e-5), "5 %");
  EXPECT_EQ(top(0.4), "40 %");
}

TEST(LineChartTest, NamesItsAxes) {
  EXPECT_THAT(LineChart({{"a", {{0, 1}, {9, 2}}}},
                        {.names = {.x = "step", .y = "images/s & more"}}),
              AllOf(HasSubstr("text-anchor=\"middle\">step</text>"),
                    HasSubstr("rotate(-90)\" text-anchor=\"middle\">images/s "
                              "&amp; more</text>")));
}

// Whatever the values, no two ticks have the same text.
TEST(LineChartTest, TellsItsTicksApart) {
  for (const double value : {1e-7, 0.1, 0.999, 1.0, 2.3026, 9.999, 12345.0}) {
    for (const double change : {0.0, 1e-9, 1e-4, 4e-3, 5e-3, 6e-3, 0.02, 0.5}) {
      const std::vector<std::string> ticks =
          TicksOf(LineChart({{"a", {{0, value}, {9, value * (1 - change)}}}}));
      EXPECT_GE(ticks.size(), 2U);
      EXPECT_EQ(std::set<std::string>(ticks.begin(), ticks.end()).size(),
                ticks.size())
          << value << " " << change;
    }
  }
}

TEST(ThinnedTest, TakesMeansOfNeighbours) {
  const std::vector<ChartPoint> thinned =
      Thinned({{1, 1}, {2, 3}, {3, kNan}, {4, 5}, {5, kNan}}, 3);
  ASSERT_EQ(thinned.size(), 3U);
  EXPECT_EQ(thinned[0].x, 2);
  EXPECT_EQ(thinned[0].y, 2);
  EXPECT_EQ(thinned[1].y, 5);
  EXPECT_TRUE(std::isnan(thinned[2].y));
  // A short curve is left alone.
  EXPECT_EQ(Thinned({{1, 1}, {2, 3}}, 2).size(), 2U);
  EXPECT_TRUE(Thinned({}, 2).empty());
}

}  // namespace
}  // namespace infeed
