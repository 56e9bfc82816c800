#include "base/charts/svg_chart.h"

#include <string>

#include "base/charts/svg_parts.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

TEST(SvgChartTest, DrawsColumnsToScale) {
  const std::string svg = ColumnChart({{"a", 2, "two"}, {"b", 4, "four"}}, 640);
  EXPECT_THAT(svg, AllOf(HasSubstr("viewBox=\"0 0 640 240\""),
                         HasSubstr("height=\"104.00\" fill-opacity=\"1.000\">"
                                   "<title>two</title>"),
                         HasSubstr("height=\"208.00\" fill-opacity=\"1.000\">"
                                   "<title>four</title>"),
                         HasSubstr(">4</text>")));
}

TEST(SvgChartTest, LabelsSomeOfManyColumns) {
  std::vector<ChartBar> bars(100, {"label", 1, ""});
  const std::string svg = ColumnChart(bars);
  int labels = 0;
  for (std::size_t at = svg.find(">label<"); at != std::string::npos;
       at = svg.find(">label<", at + 1)) {
    ++labels;
  }
  EXPECT_EQ(labels, 9);
  // Long ones do not touch.
  EXPECT_THAT(
      ColumnChart({{"train-00000-of-00002", 2, ""}, {"second", 4, ""}}, 640),
      AllOf(HasSubstr("train-00000"), Not(HasSubstr("second"))));
}

TEST(SvgChartTest, DrawsRowsToScaleWithTheirValues) {
  EXPECT_THAT(RowChart({{"rose & lily", 7, "<7>"}}),
              AllOf(HasSubstr("rose &amp; lily"), HasSubstr(">7</text>"),
                    HasSubstr("<title>&lt;7&gt;</title>")));
  EXPECT_THAT(
      RowChart({{"a", 10, ""}, {"b", 5, ""}}, 640),
      AllOf(HasSubstr("width=\"370.00\""), HasSubstr("width=\"185.00\"")));
  EXPECT_EQ(ColumnChart({}) + RowChart({}) + HeatMap({}, {}, {}), "");
}

TEST(SvgChartTest, DrawsMapsWithYUpwards) {
  const std::string svg =
      HeatMap({{0, 0, 4, "low"}, {1, 2, 1, "high"}}, {{0, "64"}}, {{0, "32"}});
  EXPECT_THAT(svg, AllOf(HasSubstr("y=\"48.50\" width=\"19.00\" "
                                   "height=\"19.00\" fill-opacity=\"1.000\">"
                                   "<title>low"),
                         HasSubstr("y=\"8.50\" width=\"19.00\" "
                                   "height=\"19.00\" fill-opacity=\"0.540\">"
                                   "<title>high")));
}

TEST(SvgChartTest, NamesItsAxes) {
  const AxisNames names = {.x = "pixels", .y = "records"};
  for (const std::string& svg :
       {ColumnChart({{"a", 2, ""}}, 640, names),
        HeatMap({{0, 0, 4, ""}}, {{0, "64"}}, {{0, "32"}}, names)}) {
    EXPECT_THAT(svg,
                AllOf(HasSubstr(">pixels</text>"), HasSubstr("rotate(-90)"),
                      HasSubstr(">records</text>")));
  }
}

// Equal widths give text of equal size on the page.
TEST(SvgChartTest, AllAreEquallyWide) {
  for (const int cells : {1, 100}) {
    EXPECT_THAT(HeatMap({{cells - 1, 0, 4, ""}}, {}, {}),
                HasSubstr("viewBox=\"0 0 640 "));
  }
}

TEST(NiceStepTest, StepsAreOneTwoOrFive) {
  EXPECT_DOUBLE_EQ(NiceStep(1), 1);
  EXPECT_DOUBLE_EQ(NiceStep(1.1), 2);
  EXPECT_DOUBLE_EQ(NiceStep(2.5), 5);
  EXPECT_DOUBLE_EQ(NiceStep(51), 100);
  EXPECT_DOUBLE_EQ(NiceStep(0.003), 0.005);
}

TEST(EscapeXmlTest, ShowsTextAsItIs) {
  EXPECT_EQ(EscapeXml("<a b=\"c\">&\n"), "&lt;a b=&quot;c&quot;&gt;&amp; ");
}

}  // namespace
}  // namespace infeed
