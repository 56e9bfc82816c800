#include "trainer/log/report.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/charts/html_page.h"
#include "base/charts/line_chart.h"
#include "base/charts/progress.h"
#include "base/charts/svg_parts.h"
#include "base/count_text.h"
#include "base/ratio.h"
#include "pipeline/stats/text.h"
#include "trainer/log/classes.h"
#include "trainer/log/loss_spikes.h"
#include "trainer/log/train_verdict.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::vector<std::string>>;

// The tables, as HTML; "" where there is no data.

std::string SecondsText(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.2f}", *seconds) : "-";
}

std::string TimeText(double unix_seconds) {
  // A line without a time shows none.
  return unix_seconds > 0
             ? fmt::format("{:%Y-%m-%d %H:%M:%S}",
                           fmt::gmtime(static_cast<std::time_t>(unix_seconds)))
             : "-";
}

// The speed of one thread that runs only this stage.
std::string RateText(const StageStats& stage) {
  return stage.busy_seconds > 0
             ? fmt::format("{:.0f}", static_cast<double>(stage.items) /
                                         stage.busy_seconds)
             : "-";
}

// "ended", "stopped", "diverged".
std::string_view EndText(RunEnd end) {
  return end == RunEnd::kDone ? "ended" : ChoiceName(end, kRunEnds);
}

std::string StateText(const HistoryRun& run) {
  return run.end
             ? fmt::format("{} at step {}", EndText(*run.end), run.last_step)
             : "no end";
}

// A URL's path; everything but plain characters as %XX.
std::string UrlText(const std::string& path) {
  std::string url;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '-' && c <= '9') || c == '_';
    url += plain ? std::string(1, c)
                 : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

// Where a run's time went, in seconds and fractions.
std::string TimesTable(const RunTimes& times) {
  const double rest = times.total - times.start_up - times.warm_up -
                      times.steady - times.between - times.checkpoints -
                      times.evaluations;
  Rows rows;
  const auto add = [&](std::string name, double seconds) {
    rows.push_back(
        {std::move(name), fmt::format("{:.2f}", seconds),
         fmt::format("{:.1f} %", 100 * Ratio(seconds, times.total))});
  };
  add("before the first loop", times.start_up);
  add(times.warm_up_steps == 1
          ? "warm-up: the first step"
          : fmt::format("warm-up: {} steps", times.warm_up_steps),
      times.warm_up);
  add(CountText(times.steady_steps, "step") + " after it", times.steady);
  add("- of these, waiting for the input", times.input_wait);
  add("- of these, waiting for the host to take results", times.drain);
  add("between " + CountText(times.loops, "loop"), times.between);
  add("checkpoints", times.checkpoints);
  add(CountText(times.evaluation_count, "evaluation"), times.evaluations);
  add("the rest", rest);
  return HtmlTable({"what", "seconds", "share"}, rows);
}

// The device's speed in loops, beside its highest speed where that was
// measured.
std::string DeviceTable(const DeviceUse& use, const DeviceCeilings& ceilings) {
  if (use.loops == 0) {
    return "";
  }
  Rows rows;
  const auto add = [&](const char* name, double value, double ceiling) {
    const bool known = ceiling > 0;
    rows.push_back(
        {name, fmt::format("{:.4g}", value),
         known ? fmt::format("{:.4g}", ceiling) : "-",
         known ? fmt::format("{:.1f} %", 100 * value / ceiling) : "-"});
  };
  add("of the time in loops it computed, %", 100 * use.busy_share(), 0);
  add("network, TFLOP/s", use.tflops(), ceilings.tflops);
  add("memory, GB/s, at least", use.gb_per_second(), ceilings.gb_per_second);
  if (use.host_syncs > 0) {
    add("the host waited for it, times a loop", use.syncs_per_loop(), 0);
  }
  return HtmlTable({"what", "reached", "measured ceiling", "share"}, rows);
}

std::string StagesTable(const PipelineStats& stats) {
  Rows rows;
  const double thread_seconds = stats.elapsed_seconds * stats.threads;
  for (const StageStats& stage : stats.stages) {
    const auto items = static_cast<double>(stage.items);
    rows.push_back(
        {stage.name, std::to_string(stage.items),
         fmt::format("{:.1f}", static_cast<double>(stage.bytes) / 1e6),
         fmt::format("{:.2f}", stage.busy_seconds),
         fmt::format("{:.1f}", 100 * Ratio(stage.busy_seconds, thread_seconds)),
         RateText(stage),
         fmt::format("{:.2f}", 1e3 * Ratio(stage.wait_seconds, items))});
  }
  if (rows.empty()) {
    return "";
  }
  return HtmlTable({"stage", "images", "MB", "busy s", "busy % of threads",
                    "images/s of one thread", "wait ms/image"},
                   rows) +
         "<p class=\"note\">" + EscapeXml(QueueText(stats)) + "</p>\n";
}

std::string WorkersTable(const PipelineStats& stats) {
  Rows rows;
  for (const WorkerStats& worker : WorstWorkers(stats)) {
    rows.push_back(
        {EscapeXml(worker.address), worker.state, std::to_string(worker.images),
         std::to_string(worker.failed), std::to_string(worker.unused),
         std::to_string(worker.declined),
         fmt::format("{:.1f}", 1e3 * worker.latency_seconds),
         fmt::format("{:.1f}", 1e3 * worker.latency_p99_seconds)});
  }
  if (rows.empty()) {
    return "";
  }
  const std::size_t left = stats.workers.size() - rows.size();
  return HtmlTable({"worker", "state", "images", "failed", "unused", "declined",
                    "p50, ms", "p99, ms"},
                   rows) +
         (left == 0 ? ""
                    : fmt::format("<p class=\"note\">{} more, which failed "
                                  "less often or are faster</p>\n",
                                  left));
}

// Each start of the program, with its warm-up.
std::string RunsTable(const RunHistory& history) {
  Rows rows;
  for (const HistoryRun& run : history.runs()) {
    rows.push_back(
        {std::to_string(rows.size() + 1), TimeText(run.start_time),
         std::to_string(run.first_step), SecondsText(run.start_up_seconds),
         SecondsText(run.warm_up_seconds), SecondsText(run.first_batch_seconds),
         fmt::format("{:.1f}", run.last_time - run.start_time),
         StateText(run)});
  }
  if (!rows.empty() && rows.back().back() == "no end") {
    rows.back().back() = "runs";  // When the report was written.
  }
  return HtmlTable(
      {"run", "start (UTC)", "from step", "before the first loop, s",
       "warm-up, s", "first batch, s", "total, s", "state"},
      rows);
}

// Evaluations that are no part of the curves, the newest first.
std::string OtherEvaluationsTable(const RunHistory& history) {
  constexpr std::size_t kShown = 20;
  const std::vector<HistoryEvaluation>& all = history.other_evaluations();
  Rows rows;
  for (auto other = all.rbegin(); other != all.rend() && rows.size() < kShown;
       ++other) {
    rows.push_back({EscapeXml(other->name.empty() ? "-" : other->name),
                    std::to_string(other->step), HtmlPercent(other->top_1),
                    fmt::format("{:.3f}", other->loss)});
  }
  if (rows.empty()) {
    return "";
  }
  const std::string table =
      HtmlTable({"evaluation", "step", "top-1", "loss"}, rows);
  return all.size() == rows.size()
             ? table
             : table + fmt::format(
                           "<p class=\"note\">{} more in metrics.jsonl</p>\n",
                           all.size() - rows.size());
}

// Parameters that were given or follow from the data; the defaults are shown
// after a click.
std::string ConfigurationTable(const std::vector<ReportFact>& parameters) {
  Rows given;
  Rows defaults;
  for (const ReportFact& fact : parameters) {
    std::vector<std::string> row = {EscapeXml(fact.name),
                                    EscapeXml(fact.value)};
    if (fact.origin.empty()) {
      defaults.push_back(std::move(row));
    } else {
      row.push_back(EscapeXml(fact.origin));
      given.push_back(std::move(row));
    }
  }
  return HtmlTable({"parameter", "value", "from"}, given, "text") +
         HtmlDetails("Defaults",
                     HtmlTable({"parameter", "value"}, defaults, "text"));
}

std::string OriginTable(const RunOrigin& origin,
                        std::int64_t peak_memory_bytes) {
  Rows rows;
  for (const auto& [name, value] : origin) {
    rows.push_back({EscapeXml(name), EscapeXml(value)});
  }
  if (peak_memory_bytes > 0) {
    rows.push_back(
        {"peak_memory",
         fmt::format("{:.0f} MiB of this process so far",
                     static_cast<double>(peak_memory_bytes) / 0x1p20)});
  }
  return HtmlTable({"what", "value"}, rows, "text");
}

std::string FileList(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) {
    list += fmt::format("{}<a href=\"{}\">{}</a>", list.empty() ? "" : "<br>\n",
                        UrlText(file), EscapeXml(file));
  }
  return list.empty() ? "" : "<p class=\"files\">" + list + "</p>\n";
}

template <typename Point, typename Value>
std::vector<ChartPoint> PointsOf(const std::vector<Point>& from, Value value) {
  std::vector<ChartPoint> points;
  points.reserve(from.size());
  for (const Point& point : from) {
    points.push_back({.x = static_cast<double>(point.step), .y = point.*value});
  }
  return points;
}

// The steps' images/s or input wait, without the warm-up.
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

// Only series with finite points.
std::vector<ChartSeries> WithPoints(std::vector<ChartSeries> series) {
  std::erase_if(series, [](const ChartSeries& s) {
    return std::ranges::none_of(
        s.points, [](const ChartPoint& p) { return std::isfinite(p.y); });
  });
  return series;
}

LineChartOptions Named(LineChartOptions options, const char* y) {
  options.names.y = y;
  return options;
}

// The name of the evaluations' curve; for other data it includes the subject.
std::string CurveName(const std::vector<HistoryEvaluation>& evaluations) {
  return evaluations.empty() || evaluations.back().name.empty()
             ? "evaluation"
             : "evaluation, " + evaluations.back().name;
}

std::string LossChart(const ReportSubject& subject, const RunHistory& history,
                      const LineChartOptions& options) {
  const std::string& more = subject.more_in_loss;
  const std::string chart = LineChart(
      WithPoints(
          {{"training" + (more.empty() ? "" : ", with " + more),
            PointsOf(history.steps(), &HistoryPoint::loss)},
           {CurveName(history.evaluations()),
            PointsOf(history.evaluations(), &HistoryEvaluation::loss), true}}),
      Named(options, "loss"));
  return chart.empty() || more.empty() || history.evaluations().empty()
             ? chart
             : chart + "<p class=\"note\">The training's loss has " +
                   EscapeXml(more) +
                   " in it, the evaluation's has not: compare each curve only "
                   "with itself.</p>\n";
}

// The plots over all runs of a training; empty where there is no data.
std::vector<HtmlBox> CurvesOf(const ReportSubject& subject,
                              const RunHistory& history) {
  constexpr double kLeastWaitShown = 0.05;  // less is noise
  LineChartOptions options{.mark_title = "a run resumed here"};
  for (const HistoryRun& run : history.runs()) {
    options.marks.push_back(static_cast<double>(run.first_step));
  }
  LineChartOptions shares = options;
  shares.y_text = ShareText;
  shares.from_zero = true;
  LineChartOptions waits = shares;
  waits.reaches = kLeastWaitShown;
  LineChartOptions rates = options;
  rates.from_zero = true;
  const auto& steps = history.steps();
  const auto& evaluations = history.evaluations();
  const std::string evaluation = CurveName(evaluations);
  return {
      {"Loss", LossChart(subject, history, options)},
      {"Accuracy",
       LineChart(
           WithPoints(
               {{"top-1, training", PointsOf(steps, &HistoryPoint::top_1)},
                {"top-1, " + evaluation,
                 PointsOf(evaluations, &HistoryEvaluation::top_1), true},
                {"top-5, " + evaluation,
                 PointsOf(evaluations, &HistoryEvaluation::top_5), true}}),
           Named(shares, "share of the images"))},
      {"Images per second",
       LineChart({{"", SteadyPoints(steps, &HistoryPoint::images_per_second)}},
                 Named(rates, "images/s"))},
      {"Share of time that the device waited for its input",
       LineChart({{"", SteadyPoints(steps, &HistoryPoint::input_wait)}},
                 Named(waits, "share of the time"))},
      {"Learning rate",
       LineChart({{"", PointsOf(steps, &HistoryPoint::learning_rate)}},
                 Named(rates, "learning rate"))}};
}

std::vector<std::string> AccuracyTiles(
    const std::vector<HistoryEvaluation>& evaluations) {
  if (evaluations.empty()) {
    return {};
  }
  const auto best = std::ranges::max_element(
      evaluations, {}, [](const HistoryEvaluation& e) { return e.top_1; });
  const HistoryEvaluation& last = evaluations.back();
  std::vector<std::string> tiles = {
      HtmlTile(HtmlPercent(last.top_1), "top-1, last"),
      HtmlTile(HtmlPercent(best->top_1),
               fmt::format("top-1, best, at step {}", best->step))};
  if (std::isfinite(last.top_5)) {
    tiles.push_back(HtmlTile(HtmlPercent(last.top_5), "top-5, last"));
  }
  tiles.push_back(
      HtmlTile(fmt::format("{:.3f}", last.loss), "loss, evaluation"));
  return tiles;
}

std::string Tiles(const ReportSubject& subject, const RunHistory& history,
                  const ReportState& state) {
  std::vector<std::string> tiles = AccuracyTiles(history.evaluations());
  tiles.insert(tiles.begin(),
               HtmlTile(fmt::format("{} / {}", state.step, subject.total_steps),
                        fmt::format("steps, {}", state.end ? EndText(*state.end)
                                                           : "so far")));
  const auto add = [&tiles](std::string_view value, std::string_view name) {
    tiles.push_back(HtmlTile(value, name));
  };
  if (!history.steps().empty()) {
    add(fmt::format("{:.3f}", history.steps().back().loss), "loss, training");
  }
  add(fmt::format("{:.1f}", state.times.images_per_second(subject.batch_size)),
      "images/s after the warm-up");
  add(HtmlPercent(state.times.input_wait_share()),
      "of the time waiting for input");
  add(ShortDuration(state.times.total),
      fmt::format("this run, {} of it warm-up",
                  ShortDuration(state.times.start_up + state.times.warm_up)));
  return HtmlTiles(tiles);
}

std::string Paragraphs(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    html += "<p>" + EscapeXml(text.substr(0, end)) + "</p>\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return html;
}

// The files in the model directory to link to: all except those still being
// written. Empty if the directory cannot be listed.
std::vector<std::string> FilesIn(const std::string& model_dir) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(model_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') && name != kReportFile) {
      files.push_back(entry.is_directory(error) ? name + "/" : name);
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string ReportPage(const ReportSubject& subject, const RunHistory& history,
                       const ReportState& state) {
  std::string body = Tiles(subject, history, state);
  if (state.times.loops > 0) {
    body += HtmlCard({"Verdict",
                      Paragraphs(TrainVerdict(state.times, state.input,
                                              subject.iterations_per_loop)),
                      "wide alone"});
  }
  std::vector<HtmlBox> boxes = CurvesOf(subject, history);
  boxes.push_back({"Steps whose loss stands out",
                   SpikesTable(FindLossSpikes(history), subject.replay_dir),
                   "wide"});
  boxes.push_back({"Where the time of this run went", TimesTable(state.times)});
  boxes.push_back({"The device, in loops",
                   DeviceTable(state.times.device, state.ceilings)});
  if (state.profile) {
    boxes.push_back({fmt::format("The dearest operations after step {}",
                                 state.profile->step),
                     OperationsTable(*state.profile), "wide"});
  }
  if (state.evaluation) {
    const ClassCards classes =
        MakeClassCards(*state.evaluation, subject.class_names);
    const std::string at = fmt::format(" at step {}", state.evaluation_step);
    const char* const kind = classes.are_wide ? "wide" : "";
    boxes.push_back({"Confusion matrix" + at, classes.confusion, kind});
    boxes.push_back({"Classes" + at, classes.table, kind});
    boxes.push_back({"ROC curve" + at, classes.roc});
  }
  boxes.push_back({"Other evaluations", OtherEvaluationsTable(history)});
  boxes.push_back(
      {"The input's stages, in loops", StagesTable(state.input), "wide"});
  boxes.push_back({"The input's workers", WorkersTable(state.input), "wide"});
  boxes.push_back({"Runs, and their warm-up", RunsTable(history), "wide"});
  boxes.push_back({"Configuration", ConfigurationTable(subject.configuration)});
  boxes.push_back({"Environment and files",
                   OriginTable(subject.origin, state.peak_memory_bytes) +
                       FileList(state.files)});
  return HtmlPage(EscapeXml(subject.title), body + HtmlCards(std::move(boxes)));
}

Report::Report(const std::string& model_dir, ReportSubject subject)
    : model_dir_(model_dir),
      subject_(std::move(subject)),
      history_(model_dir) {}

void Report::Write(ReportState state) {
  history_.Update();
  state.files = FilesIn(model_dir_);
  WriteFileAtomically(PathIn(model_dir_, kReportFile),
                      ReportPage(subject_, history_, state));
}

}  // namespace infeed
