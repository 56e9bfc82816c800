#include "bench/decoder/speed_table.h"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

std::string GoalText(const SpeedRow& row) {
  std::string text = row.goal == 0 ? "-" : fmt::format("{:.4g}x", row.goal);
  if (row.at_most > 0) {
    text += fmt::format(", {:.4g} us", row.at_most);
  }
  return text;
}

std::string MetText(bool has_goal, bool is_met) {
  return !has_goal ? "-" : is_met ? "yes" : "NO";
}

Json RowJson(const SpeedRow& row) {
  Json json = {{"what", row.what},        {"rival", row.rival},
               {"theirs_us", row.theirs}, {"ours_us", row.ours},
               {"ratio", row.ratio()},    {"goal", row.goal},
               {"met", row.is_met()}};
  if (row.theirs_mean > 0) {
    json["theirs_mean_us"] = row.theirs_mean;
  }
  if (row.at_most > 0) {
    json["at_most_us"] = row.at_most;
  }
  return json;
}

}  // namespace

std::string SpeedText(const SpeedReport& report) {
  std::string text =
      fmt::format("{}, SIMD target {}", report.cpu, report.target);
  for (const std::string& version : report.versions) {
    text += ", " + version;
  }
  text += fmt::format(
      "\n{} images, {} windows each; medians over them of the least of {} "
      "repetitions, one core\n\n{:<46} {:<24} {:>9} {:>9} {:>7} {:>14} {:>4}\n",
      report.images, report.windows, report.repetitions, "what", "rival",
      "theirs us", "ours us", "ratio", "goal", "met");
  for (const SpeedRow& row : report.rows) {
    text +=
        fmt::format("{:<46} {:<24} {:>9.1f} {:>9.1f} {:>6.2f}x {:>14} {:>4}\n",
                    row.what, row.rival, row.theirs, row.ours, row.ratio(),
                    GoalText(row), MetText(row.goal > 0, row.is_met()));
  }
  text += "\n";
  for (const SpeedFigure& figure : report.figures) {
    text += fmt::format("{}: {:.4g} {} (goal: {} {:.4g}; met: {})\n",
                        figure.what, figure.value, figure.unit,
                        figure.is_ceiling ? "at most" : "at least", figure.goal,
                        MetText(true, figure.is_met()));
  }
  return text;
}

std::string SpeedJson(const SpeedReport& report) {
  Json json = {
      {"cpu", report.cpu},           {"target", report.target},
      {"versions", report.versions}, {"images", report.images},
      {"windows", report.windows},   {"repetitions", report.repetitions},
      {"rows", Json::array()},       {"figures", Json::array()}};
  for (const SpeedRow& row : report.rows) {
    json["rows"].push_back(RowJson(row));
  }
  for (const SpeedFigure& figure : report.figures) {
    json["figures"].push_back({{"what", figure.what},
                               {"value", figure.value},
                               {"unit", figure.unit},
                               {"goal", figure.goal},
                               {"ceiling", figure.is_ceiling},
                               {"met", figure.is_met()}});
  }
  return json.dump(2) + "\n";
}

std::string CpuName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown CPU";
}

}  // namespace infeed
