#include "bench/engine/run.h"

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bench/engine/report.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

// Rounds that were measured: of 1 and 2 threads in turns.
class ThroughputRunTest : public ::testing::Test {
 protected:
  std::vector<ThroughputRun> Measure() {
    std::size_t next = 0;
    return MeasureThroughput(
        [&](const InputOptions& input, const RoundOptions& round) {
          asked_.push_back(input.threads);
          round.progress(0.5);
          return Round(input.threads, rates_[next++]);
        },
        options_,
        [&](const RunProgress& progress) {
          told_ += progress.rate ? "=" : ".";
        });
  }

  static ThroughputRound Round(int threads, double rate) {
    ThroughputRound round{.images_per_second = rate, .images = 500};
    round.cpu = {.seconds = rate / 100};
    round.input_wait = rate / 1000;
    round.stats.threads = threads;
    round.stats.elapsed_seconds = 4;
    round.stats.stages = {{.name = "read", .busy_seconds = 1.0},
                          {.name = "de<code", .busy_seconds = 2.0 * threads}};
    return round;
  }

  ThroughputOptions options_{.input = {}, .threads = {1, 2}, .rounds = 3};
  std::vector<double> rates_ = {100, 200, 120, 180, 80, 210};
  std::vector<int> asked_;
  std::string told_;
};

TEST_F(ThroughputRunTest, TakesTurnsAndTellsOfThem) {
  Measure();
  EXPECT_THAT(asked_, ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_EQ(told_, ".=.=.=.=.=.=");
}

TEST_F(ThroughputRunTest, KeepsTheMedianRound) {
  const std::vector<ThroughputRun> runs = Measure();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_THAT(runs[0].images_per_second, ElementsAre(80, 100, 120));
  EXPECT_EQ(runs[0].median(), 100);
  EXPECT_DOUBLE_EQ(runs[0].spread(), 0.4);
  EXPECT_EQ(runs[1].threads, 2);
  EXPECT_EQ(runs[1].median(), 200);
  // 2 seconds for 500 images.
  EXPECT_DOUBLE_EQ(runs[1].cpu_seconds_per_1000, 4);
  EXPECT_EQ(&FastestRun(runs), &runs[1]);
}

TEST_F(ThroughputRunTest, TakesTheMeanOfTheTwoMiddleRounds) {
  options_.rounds = 2;
  const std::vector<ThroughputRun> runs = Measure();
  EXPECT_EQ(runs[0].median(), 110);
  EXPECT_EQ(runs[1].median(), 190);
  // 1.8 and 2 seconds for 500 images.
  EXPECT_DOUBLE_EQ(runs[1].cpu_seconds_per_1000, 3.8);
}

TEST_F(ThroughputRunTest, HasInstructionsAndADevicesWaitOnlyWhereTheyAre) {
  EXPECT_EQ(Measure()[0].instructions_per_1000, std::nullopt);
  EXPECT_EQ(Measure()[0].input_wait, std::nullopt);
  options_.device_rate = 50;
  EXPECT_THAT(Measure()[0].input_wait, Optional(DoubleEq(0.1)));
}

TEST_F(ThroughputRunTest, ReportsItAsTextAndJson) {
  options_.device_rate = 50;
  const std::vector<ThroughputRun> runs = Measure();
  const ReportTable report = ThroughputReport(runs, options_, 9, 1 << 20);
  EXPECT_THAT(RenderText(report),
              AllOf(StartsWith("threads  images/s "),
                    ContainsRegex(" 2 +200.0 +180.0 +210.0 +15.0 % +4.000 +- "
                                  "+20.0 %\n"),
                    ContainsRegex("\nThe median round with 2 threads:\nstage "),
                    HasSubstr("\ntime to first batch: 0.000 s\npeak memory: "),
                    EndsWith("\n")));
  const nlohmann::json json = nlohmann::json::parse(RenderJson(report));
  EXPECT_EQ(json["images_per_second"]["median"], 200);
  EXPECT_EQ(json["images_per_second"]["spread"], 0.15);
  EXPECT_EQ(json["cpu_seconds_per_1000_images"], 4);
  EXPECT_TRUE(json["instructions_per_1000_images"].is_null());
  EXPECT_EQ(json["input_wait"], 0.2);
  EXPECT_EQ(json["device_rate"], 50);
  EXPECT_EQ(json["graph"], "flow");
  EXPECT_EQ(json["runs"][0]["images_per_second"]["min"], 80);
  EXPECT_EQ(json["runs"][0]["stages"].size(), 2U);
}

TEST_F(ThroughputRunTest, ReportsAStageAlone) {
  ThroughputRun run = Measure()[1];
  run.stats.stages.resize(1);
  EXPECT_EQ(VerdictText(run),
            "read alone: 200.0 images/s, 100.0 of each thread; an upper bound "
            "for a pipeline with 2 threads");
  EXPECT_THAT(RenderText(ThroughputReport({run}, options_, 9, 1 << 20)),
              AllOf(HasSubstr(VerdictText(run)), HasSubstr("peak memory"),
                    Not(HasSubstr("time to first batch"))));
}

TEST_F(ThroughputRunTest, DrawsRatesAndShares) {
  const std::string svg = ThroughputPlot("a.svg", Measure(), "title");
  EXPECT_THAT(svg, AllOf(StartsWith("<svg xmlns="), EndsWith("</svg>\n"),
                         HasSubstr(">1 thread<"), HasSubstr(">2 threads<"),
                         HasSubstr("80.0 to 120.0 images/s"),
                         HasSubstr("de&lt;code"), Not(HasSubstr("de<code"))));
  // 4 of 8 seconds.
  EXPECT_THAT(svg, HasSubstr(">50</text>"));
}

TEST_F(ThroughputRunTest, NamesTheLoadInItsVerdict) {
  ThroughputRun run = Measure()[1];
  run.load = CpuLoad{.own = 0.9, .others = 1.1, .cores = 2};
  EXPECT_THAT(VerdictText(run), EndsWith("; other programs use 1.1 of 2 cores: "
                                         "without them this would be faster"));
  run.load->others = 0.1;
  EXPECT_THAT(VerdictText(run), Not(HasSubstr("other programs")));
}

TEST_F(ThroughputRunTest, MakesAPageWithTableAndVerdict) {
  const std::vector<ThroughputRun> runs = Measure();
  EXPECT_THAT(
      ThroughputPlot("a.html", runs, "the <title>"),
      AllOf(HasSubstr("the &lt;title&gt;"), HasSubstr("<svg"),
            HasSubstr("<th>spread</th>"), Not(HasSubstr("input wait")),
            HasSubstr("<td>200.0</td>"), HasSubstr(VerdictText(runs[1])),
            Not(HasSubstr("src=")), Not(HasSubstr("href="))));
  EXPECT_THROW(CheckPlotName("a.png"), UsageError);
}

}  // namespace
}  // namespace infeed
