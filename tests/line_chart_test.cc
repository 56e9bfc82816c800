#include "trainer/line_chart.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infeed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(LineChartTest, DrawsToScale) {
  // The plot is 564 units wide and 186 high, from (60, 10).
  EXPECT_THAT(LineChart({{"loss", {{0, 0}, {50, 4}, {100, 2}}}}),
              AllOf(HasSubstr("viewBox=\"0 0 640 220\""),
                    HasSubstr("d=\"M60.0 196.0L342.0 10.0L624.0 103.0\""),
                    HasSubstr(">4</text>"), HasSubstr(">100</text>")));
}

TEST(LineChartTest, BreaksTheLineWhereThereIsNoNumber) {
  EXPECT_THAT(LineChart({{"loss", {{0, 0}, {1, 1}, {2, kNan}, {3, 1}}}}),
              HasSubstr("L248.0 10.0M624.0 10.0\""));
}

TEST(LineChartTest, HasALegendForMoreThanOne) {
  const ChartSeries train{"train", {{0, 1}, {1, 2}}};
  const ChartSeries eval{"a < b", {{1, 2}}};
  EXPECT_THAT(LineChart({train, eval}),
              AllOf(HasSubstr(">train</text>"), HasSubstr(">a &lt; b</text>"),
                    HasSubstr("class=\"line s2\""),
                    HasSubstr("viewBox=\"0 0 640 240\"")));
  EXPECT_THAT(LineChart({train}), Not(HasSubstr(">train</text>")));
}

TEST(LineChartTest, MarksAPointThatIsAlone) {
  EXPECT_THAT(LineChart({{"loss", {{7, 2}}}}),
              HasSubstr("<title>step 7: 2</title>"));
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

TEST(LineChartTest, DrawsNothingOfNothing) {
  EXPECT_EQ(LineChart({}), "");
  EXPECT_EQ(LineChart({{"a", {{0, kNan}}}}), "");
}

TEST(ThinnedTest, TakesMeansOfNeighbours) {
  const std::vector<ChartPoint> thinned =
      Thinned({{1, 1}, {2, 3}, {3, kNan}, {4, 5}, {5, kNan}}, 3);
  ASSERT_EQ(thinned.size(), 3U);
  EXPECT_EQ(thinned[0].x, 2);
  EXPECT_EQ(thinned[0].y, 2);
  EXPECT_EQ(thinned[1].y, 5);
  EXPECT_TRUE(std::isnan(thinned[2].y));
}

TEST(ThinnedTest, LeavesAShortCurveAlone) {
  EXPECT_EQ(Thinned({{1, 1}, {2, 3}}, 2).size(), 2U);
  EXPECT_TRUE(Thinned({}, 2).empty());
}

}  // namespace
}  // namespace infeed
