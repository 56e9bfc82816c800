#include "trainer/log/report.h"

#include "base/atomic_file.h"
#include "tests/support/made_stats.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "trainer/results/metrics_log.h"

namespace infeed {
namespace {

// Every element is closed, in its turn, and no stray < or & stands about.
// Elements without an end are those of HTML that have none.
std::string FirstFlaw(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos;
       at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    const std::string tag(html.substr(at + 1, end - at - 1));
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (name.starts_with('/')) {
      if (open.empty() || open.back() != name.substr(1)) {
        return tag + " does not close " + (open.empty() ? "" : open.back());
      }
      open.pop_back();
    } else if (!name.starts_with('!') && !tag.ends_with('/') &&
               name != "meta" && name != "br" && name != "img") {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

// A run of two starts, evaluated twice.
RunHistory MadeHistory() {
  RunHistory history("nowhere");
  history.Add(R"({"event":"start","step":0,"time":1700000000})");
  history.Add(R"({"event":"train","step":1,"loss":3,"images_per_second":777,)"
              R"("warm_up":true})");
  history.Add(
      R"({"event":"warm_up","step":1,"seconds":2.5,"start_up_seconds":0.5,)"
      R"("first_batch_seconds":0.25})");
  history.Add(
      R"({"event":"train","step":2,"loss":2,"top_1":0.5,)"
      R"("learning_rate":0.1,"images_per_second":100,"input_wait":0.1})");
  history.Add(R"({"event":"eval","step":2,"loss":1,"top_1":0.9,"top_5":1})");
  history.Add(R"({"event":"start","step":2,"time":1700000100})");
  history.Add(
      R"({"event":"train","step":3,"loss":1.5,"top_1":0.6,)"
      R"("learning_rate":0.1,"images_per_second":90,"input_wait":0.2})");
  history.Add(R"({"event":"eval","step":3,"loss":2,"top_1":0.8,"top_5":1})");
  return history;
}

ReportSubject MadeSubject() {
  return {.title = "ResNet-18 on <data>",
          .total_steps = 9,
          .batch_size = 10,
          .iterations_per_loop = 1,
          .class_names = {"a & b"},
          .configuration = {{"train_steps", "9", "--params_override"},
                            {"momentum", "0.9", ""}},
          .origin = {{"command", "train_resnet '--a=<b>'"}}};
}

ReportState MadeState() {
  ReportState state{.step = 3,
                    .times = {.total = 100,
                              .start_up = 1,
                              .warm_up = 2,
                              .steady = 90,
                              .input_wait = 9,
                              .warm_up_steps = 1,
                              .steady_steps = 45,
                              .loops = 46},
                    .input = BusyRun(),
                    .evaluation = EvalResult{},
                    .evaluation_step = 3,
                    .files = {"metrics.jsonl", "a b/"}};
  state.evaluation->classes = 2;
  state.evaluation->confusion = {7, 1, 2, 6};
  state.evaluation->auc = 0.75;
  state.evaluation->roc = {{0, 0}, {0.2, 0.8}, {1, 1}};
  return state;
}

std::string MadePage(const ReportState& state = MadeState(),
                     const RunHistory& history = MadeHistory()) {
  return ReportPage(MadeSubject(), history, state);
}

TEST(ReportPageTest, PagesAreWellFormedAndSelfContained) {
  const std::string page = MadePage();
  EXPECT_EQ(FirstFlaw(page), "");
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("nan")),
                          Not(HasSubstr("<link")), Not(HasSubstr("<data>"))));
}

TEST(ReportPageTest, ShowsTheRunFromAllSides) {
  const std::string page = MadePage();
  for (const char* const text :
       {"ResNet-18 on &lt;data&gt;", "<b>3 / 9</b>", "<b>80.0\u00a0%</b>",
        "top-1, best, at step 2", "<b>2.000</b><span>loss, evaluation",
        "<b>1.500</b><span>loss, training",
        "<b>5.0</b><span>images/s after the warm-up",
        "<b>10.0\u00a0%</b><span>of the time waiting", "decode bounds the run",
        // A table's columns, the origin, where a run went on, the files.
        "<th>what</th><th>value</th>",
        "<td>command</td><td>train_resnet '--a=&lt;b",
        "<title>a run resumed here</title>", "<a href=\"a%20b/\">a b/</a>",
        "<td>train_steps</td><td>9</td><td>--params_override</td>",
        // Classes, the worst first.
        "<tr><td>1</td><td>8</td><td>6</td><td>75.0 %</td><td>a &amp; b "
        "(2)</td></tr>\n<tr><td>a &amp; b</td><td>8</td><td>7</td><td>87.5 "
        "%</td><td>1 (1)</td>",
        "the area under it is 0.7500", "rgba(59, 111, 212, 0.94)\">7</td>"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<th></th>")),
                          Not(HasSubstr("measured ceiling"))));
  EXPECT_GT(page.find("<td>momentum</td>"), page.find("<details>"));
}

// A loss with more parts is not compared with one that lacks them.
TEST(ReportPageTest, SaysHowTheLossesDiffer) {
  EXPECT_THAT(MadePage(), AllOf(HasSubstr(">training</text>"),
                                Not(HasSubstr("compare each curve"))));
  ReportSubject subject = MadeSubject();
  subject.more_in_loss = "the L2 term";
  EXPECT_THAT(ReportPage(subject, MadeHistory(), MadeState()),
              AllOf(HasSubstr(">training, with the L2 term</text>"),
                    HasSubstr("compare each curve only with itself")));
}

TEST(ReportPageTest, ListsStepsWhoseLossStandsOut) {
  EXPECT_THAT(MadePage(), Not(HasSubstr("Steps whose loss stands out")));
  RunHistory history = MadeHistory();
  history.Add(R"({"event":"train","step":4,"loss":null})");
  ReportSubject subject = MadeSubject();
  subject.replay_dir = "a<b>";
  const std::string page = ReportPage(subject, history, MadeState());
  EXPECT_EQ(FirstFlaw(page), "");
  EXPECT_THAT(page, AllOf(HasSubstr("Steps whose loss stands out"),
                          HasSubstr("<td>4</td><td>not finite</td>"),
                          HasSubstr("--model_dir 'a&lt;b&gt;' --step 4")));
}

TEST(ReportPageTest, LeavesOutAMetricThatTheEvaluationsLack) {
  EXPECT_THAT(MadePage(),
              AllOf(HasSubstr("top-5, last"), HasSubstr("top-5, evaluation")));
  RunHistory history("nowhere");
  history.Add(R"({"event":"start","step":0,"time":1700000000})");
  history.Add(R"({"event":"eval","step":2,"loss":1,"top_1":0.9})");
  EXPECT_THAT(MadePage(MadeState(), history), Not(HasSubstr("top-5")));
}

TEST(ReportPageTest, KeepsTheWarmUpApart) {
  const std::string page = MadePage();
  EXPECT_THAT(page, HasSubstr("<td>warm-up: the first step</td><td>2.00</td>"));
  // The first run's times: before its first loop, warm-up, first batch.
  EXPECT_THAT(page, HasSubstr("<td>0.50</td><td>2.50</td><td>0.25</td>"));
  EXPECT_THAT(page, Not(HasSubstr("777")));  // It would spoil the curve.
}

TEST(ReportPageTest, SaysHowRunsEnded) {
  RunHistory history = MadeHistory();
  history.Add(R"({"event":"end","step":3,"state":"stopped"})");
  ReportState state = MadeState();
  state.peak_memory_bytes = 3 << 20;
  EXPECT_THAT(MadePage(state),
              AllOf(HasSubstr("<td>no end</td>"), HasSubstr("<td>runs</td>"),
                    HasSubstr("<td>3 MiB of this process so far</td>"),
                    HasSubstr("<span>steps, so far</span>")));
  state.end = RunEnd::kStopped;
  EXPECT_THAT(
      MadePage(state, history),
      AllOf(HasSubstr("<td>stopped at step 3</td>"),
            HasSubstr("<span>steps, stopped</span>"), Not(HasSubstr("ended"))));
}

TEST(ReportPageTest, HasTheWorstWorkers) {
  ReportState state = MadeState();
  EXPECT_THAT(MadePage(state), Not(HasSubstr("The input's workers")));
  state.input.workers = {{.address = "a<b:1",
                          .state = "open",
                          .images = 90,
                          .declined = 4,
                          .unused = 3,
                          .failed = 2,
                          .latency_seconds = 0.0214,
                          .latency_p99_seconds = 0.04}};
  EXPECT_THAT(MadePage(state),
              AllOf(HasSubstr("<td>a&lt;b:1</td><td>open</td><td>90</td>"
                              "<td>2</td><td>3</td><td>4</td><td>21.4</td>"
                              "<td>40.0</td>"),
                    Not(HasSubstr("failed less often"))));
  state.input.workers.resize(10);
  const std::string page = MadePage(state);
  EXPECT_EQ(FirstFlaw(page), "");
  EXPECT_THAT(page, HasSubstr("2 more, which failed less often"));
}

TEST(ReportPageTest, ListsEvaluationsThatAreNotTheTrainings) {
  RunHistory history = MadeHistory();
  const auto page = [&] {
    std::string html = ReportPage(MadeSubject(), history, MadeState());
    EXPECT_EQ(FirstFlaw(html), "");
    return html;
  };
  EXPECT_THAT(page(), Not(HasSubstr("Other evaluations")));
  for (int step = 1; step <= 3; ++step) {
    history.Add(R"({"event":"other_eval","evaluation":"test-1a2b3c4d",)"
                R"("loss":4.25,"top_1":0.125,"step":)" +
                std::to_string(step) + "}");
  }
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("Other evaluations"));
  EXPECT_LT(html.find("test-1a2b3c4d</td><td>3"),
            html.find("test-1a2b3c4d</td><td>2"));
  // A resume from step 2 drops the later one; another validation begins.
  history.Add(R"({"event":"start","step":2,"time":1700000200})");
  history.Add(R"({"event":"eval","step":3,"evaluation":"validation-2b3c4d5e",)"
              R"("loss":2,"top_1":0.75})");
  ASSERT_EQ(history.other_evaluations().size(), 3U);
  EXPECT_EQ(history.other_evaluations().back().name, "");
  EXPECT_EQ(history.other_evaluations().back().top_1, 0.9);
}

// The first report may come before anything has happened.
TEST(ReportPageTest, EmptyHistoryGivesAPage) {
  const std::string page = ReportPage({}, RunHistory("nowhere"), {});
  EXPECT_EQ(FirstFlaw(page), "");
  EXPECT_THAT(page, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("Verdict"))));
}

TEST(ReportTest, TheReportShowsTheWholeLog) {
  const TemporaryFolder folder;
  Report report(folder.path(), MadeSubject());
  report.Write({});
  const std::string path = folder.path() + "/report.html";
  EXPECT_THAT(ReadWholeFile(path, 1 << 20), Not(HasSubstr("metrics.jsonl")));
  MetricsLog(folder.path()).Write("train", 7, {{"loss", 1.25}});
  report.Write({.step = 7});
  EXPECT_THAT(ReadWholeFile(path, 1 << 20),
              AllOf(HasSubstr("<b>7 / 9</b>"), HasSubstr("<b>1.250</b>"),
                    HasSubstr("metrics.jsonl")));
}

}  // namespace
}  // namespace infeed
