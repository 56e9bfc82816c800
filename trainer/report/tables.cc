#include "trainer/report/tables.h"

#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/charts/html_page.h"
#include "base/charts/svg_parts.h"
#include "pipeline/stats/table.h"

namespace infeed {
namespace {

using Rows = std::vector<std::vector<std::string>>;

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string SecondsText(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.2f}", *seconds) : "-";
}

std::string TimeText(double unix_seconds) {
  // A line without a time has none to show.
  return unix_seconds > 0
             ? fmt::format("{:%Y-%m-%d %H:%M:%S}",
                           fmt::gmtime(static_cast<std::time_t>(unix_seconds)))
             : "-";
}

// What one thread would do of a stage alone.
std::string RateText(const StageStats& stage) {
  return stage.busy_seconds > 0
             ? fmt::format("{:.0f}", static_cast<double>(stage.items) /
                                         stage.busy_seconds)
             : "-";
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

}  // namespace

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
  add(fmt::format("{} steps after it", times.steady_steps), times.steady);
  add("- of these, waiting for the input", times.input_wait);
  add("- of these, waiting for the host to take results", times.drain);
  add(fmt::format("between {} loops", times.loops), times.between);
  add("checkpoints", times.checkpoints);
  add(fmt::format("{} evaluations", times.evaluation_count), times.evaluations);
  add("the rest", rest);
  return HtmlTable({"what", "seconds", "share"}, rows);
}

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

std::string_view EndText(RunEnd end) {
  return end == RunEnd::kDone ? "ended" : RunEndName(end);
}

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
       "warm-up, s", "of it for the first batch, s", "all, s", "state"},
      rows);
}

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
  return HtmlTable({"what", ""}, rows, "text");
}

std::string FileList(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) {
    list += fmt::format("{}<a href=\"{}\">{}</a>", list.empty() ? "" : "<br>\n",
                        UrlText(file), EscapeXml(file));
  }
  return list.empty() ? "" : "<p class=\"files\">" + list + "</p>\n";
}

}  // namespace infeed
