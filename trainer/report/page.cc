#include "trainer/report/page.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/charts/html_page.h"
#include "base/charts/progress.h"
#include "base/charts/svg_parts.h"
#include "trainer/report/classes.h"
#include "trainer/report/curves.h"
#include "trainer/report/tables.h"
#include "trainer/report/train_verdict.h"

namespace infeed {
namespace {

std::string Percent(double fraction) {
  return fmt::format("{:.1f}&nbsp;%", 100 * fraction);
}

std::string AccuracyTiles(const std::vector<HistoryEvaluation>& evaluations) {
  if (evaluations.empty()) {
    return "";
  }
  const auto best = std::ranges::max_element(
      evaluations, {}, [](const HistoryEvaluation& e) { return e.top_1; });
  return HtmlTile(Percent(evaluations.back().top_1), "top-1, last") +
         HtmlTile(Percent(best->top_1),
                  fmt::format("top-1, best, at step {}", best->step)) +
         HtmlTile(Percent(evaluations.back().top_5), "top-5, last") +
         HtmlTile(fmt::format("{:.3f}", evaluations.back().loss),
                  "loss, evaluation");
}

std::string Tiles(const ReportSubject& subject, const RunHistory& history,
                  const ReportState& state) {
  std::string tiles =
      HtmlTile(fmt::format("{} / {}", state.step, subject.total_steps),
               fmt::format("steps, {}",
                           state.end ? EndText(*state.end) : "so far")) +
      AccuracyTiles(history.evaluations());
  if (!history.steps().empty()) {
    tiles += HtmlTile(fmt::format("{:.3f}", history.steps().back().loss),
                      "loss, training");
  }
  tiles +=
      HtmlTile(fmt::format("{:.1f}",
                           state.times.images_per_second(subject.batch_size)),
               "images/s after the warm-up") +
      HtmlTile(Percent(state.times.input_wait_share()),
               "of the time waiting for input") +
      HtmlTile(ShortDuration(state.times.total),
               fmt::format(
                   "this run, {} of it warm-up",
                   ShortDuration(state.times.start_up + state.times.warm_up)));
  return "<div class=\"tiles\">\n" + tiles + "</div>\n";
}

// A paragraph for each line.
std::string Paragraphs(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    html += "<p>" + EscapeXml(text.substr(0, end)) + "</p>\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return html;
}

}  // namespace

std::string ReportPage(const ReportSubject& subject, const RunHistory& history,
                       const ReportState& state) {
  const ReportCurves curves = CurvesOf(history);
  std::string body = Tiles(subject, history, state);
  if (state.times.loops > 0) {
    body += HtmlCard("Verdict",
                     Paragraphs(TrainVerdict(state.times, state.input,
                                             subject.iterations_per_loop)),
                     "wide alone");
  }
  body += "<div class=\"cards\">\n" + HtmlCard("Loss", curves.loss) +
          HtmlCard("Accuracy", curves.accuracy) +
          HtmlCard("Images per second", curves.images_per_second) +
          HtmlCard("Time that the device waited for its input, share",
                   curves.input_wait) +
          HtmlCard("Learning rate", curves.learning_rate) +
          HtmlCard("Where the time of this run went", TimesTable(state.times)) +
          HtmlCard("The device, in loops",
                   DeviceTable(state.times.device, state.ceilings));
  if (state.evaluation) {
    const ClassCards classes =
        ClassCardsOf(*state.evaluation, subject.class_names);
    const std::string at = fmt::format(" at step {}", state.evaluation_step);
    const char* const kind = classes.are_wide ? "wide" : "";
    body += HtmlCard("Confusion matrix" + at, classes.confusion, kind) +
            HtmlCard("Classes" + at, classes.table, kind) +
            HtmlCard("ROC curve" + at, classes.roc, "map");
  }
  body += HtmlCard("The input's stages, in loops", StagesTable(state.input),
                   "wide") +
          HtmlCard("Runs, and their warm-up", RunsTable(history), "wide") +
          HtmlCard("Configuration", ConfigurationTable(subject.configuration)) +
          HtmlCard("Environment and files",
                   OriginTable(subject.origin, state.peak_memory_bytes) +
                       FileList(state.files)) +
          "</div>\n";
  return HtmlPage(EscapeXml(subject.title), body);
}

}  // namespace infeed
