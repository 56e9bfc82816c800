#include "tools/train_resnet/comparison_report.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.h"
#include "base/shown_text.h"
#include "preprocess/pixels/image_size.h"
#include "records/bytes/hash_text.h"
#include "records/bytes/json.h"
#include "records/files/open_source.h"
#include "tools/cli/report_table.h"
#include "trainer/replay/replay_lines.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

std::string OrNone(const std::string& value) {
  return value.empty() ? "none" : ShownText(value);
}

// "steps 61 to 90".
std::string LoopText(const FingerprintMatch& match) {
  return match.equal_steps + 1 == match.differs_by
             ? fmt::format("step {}", match.differs_by)
             : fmt::format("steps {} to {}", match.equal_steps + 1,
                           match.differs_by);
}

std::string ResultText(const RunComparison& comparison) {
  const FingerprintMatch& match = comparison.match;
  const std::string_view kind =
      match.has_pixels ? "records, windows, random choices and pixels"
                       : "records, windows and random choices, not pixels";
  if (match.is_equal()) {
    return fmt::format("{}: {} compared ({})\n",
                       comparison.differences.on_device.empty()
                           ? "the inputs are equal"
                           : "the batches are equal, and the device makes "
                             "other inputs of them",
                       CountText(match.equal_steps, "step"), kind);
  }
  return match.equal_steps == 0
             ? fmt::format("the inputs differ in {} ({})\n", LoopText(match),
                           kind)
             : fmt::format(
                   "the inputs are equal up to step {} and differ in {} ({})\n",
                   match.equal_steps, LoopText(match), kind);
}

std::string DifferenceText(const RunDifference& difference) {
  return fmt::format("  {} {}: {} in A, {} in B\n",
                     ChoiceName(difference.kind, kDifferenceKinds),
                     difference.name, OrNone(difference.a),
                     OrNone(difference.b));
}

ReportRow DifferencesRow(const std::string& key, const std::string& title,
                         const std::vector<RunDifference>& differences) {
  std::vector<ReportTable> items;
  for (const RunDifference& difference : differences) {
    items.push_back({{.key = "kind",
                      .value = ChoiceName(difference.kind, kDifferenceKinds),
                      .text = DifferenceText(difference)},
                     {.key = "name", .value = difference.name},
                     {.key = "a", .value = difference.a},
                     {.key = "b", .value = difference.b}});
  }
  ReportRow row = ListRow(key, items);
  row.text = items.empty() ? "" : title + ":\n" + row.text;
  return row;
}

std::string WhyTitle(const RunComparison& comparison) {
  return comparison.match.is_equal()
             ? "recorded differences, which did not change the input"
             : "recorded differences that can be the reason";
}

// "  other shards: 3 (train-00003-of-00008)": by their numbers from 0.
std::string ShardsText(const RunComparison& comparison) {
  constexpr std::size_t kMostListed = 8;
  const std::vector<std::size_t>& shards = comparison.differences.shards;
  std::string text;
  for (std::size_t i = 0; i < shards.size() && i < kMostListed; ++i) {
    text += fmt::format("{}{}", i == 0 ? "  other shards, from 0: " : ", ",
                        shards[i]);
    if (i < comparison.shard_names.size()) {
      text += " (" + ShownText(comparison.shard_names[i]) + ")";
    }
  }
  const std::size_t more = shards.size() - std::min(shards.size(), kMostListed);
  return shards.empty()
             ? ""
             : text + (more > 0 ? fmt::format(" and {} more", more) : "") +
                   "\n";
}

// The facts of a sample, as docs/report.md names them.
std::vector<std::pair<std::string, std::string>> FactsOf(
    const std::optional<SampleDescription>& sample) {
  const SampleDescription of = sample.value_or(SampleDescription{});
  const Geometry& geometry = of.geometry;
  const Window& window = geometry.window;
  return {
      {"shard", OrNone(PathForMessages(of.shard))},
      {"record", std::to_string(of.number)},
      {"file", OrNone(of.file_name)},
      {"label", std::to_string(of.label)},
      {"image", SizeText(geometry.source)},
      {"window", fmt::format("{}x{} at {} {}", window.height, window.width,
                             window.y, window.x)},
      {"resized to", fmt::format("{}, cut at {} {}", SizeText(geometry.resized),
                                 geometry.y, geometry.x)},
      {"mirrored", geometry.is_mirrored ? "yes" : "no"},
      {"augmentations",
       of.augmentations.empty()
           ? "none"
           : fmt::format("{}", fmt::join(of.augmentations, ", "))}};
}

std::string SamplesText(const SampleDifference& difference) {
  TextTable table({"", "A", "B", ""});
  const auto a = FactsOf(difference.a);
  const auto b = FactsOf(difference.b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string of_a = difference.a ? a[i].second : "no sample";
    const std::string of_b = difference.b ? b[i].second : "no sample";
    table.Add(
        {"  " + a[i].first, of_a, of_b, of_a == of_b ? "" : "<- differs"});
  }
  if (difference.has_other_pixels) {
    table.Add({"  pixels", "", "", "<- differ"});
  }
  // It differs wherever something above does, and where records' bytes do.
  table.Add({"  fingerprint", HashText(difference.fingerprint_a),
             HashText(difference.fingerprint_b),
             difference.fingerprint_a == difference.fingerprint_b
                 ? ""
                 : "<- differs"});
  return fmt::format(
      "the first sample that differs is in step {}, number {} "
      "of its batch, from 0:\n{}",
      difference.step, difference.place, table.Text());
}

Json SampleOrNull(const std::optional<SampleDescription>& sample,
                  std::uint64_t fingerprint) {
  if (!sample) {
    return nullptr;
  }
  Json json = ParseJson<Json>(SampleJson(*sample));
  json["fingerprint"] = HashText(fingerprint);
  return json;
}

Json RunJson(const std::string& model_dir, std::int64_t steps) {
  return {{"model_dir", model_dir}, {"steps", steps}};
}

void AddSamples(const RunComparison& comparison, ReportTable& report) {
  const std::optional<SampleDifference>& sample = comparison.sample;
  const std::string& why = comparison.no_sample;
  report.push_back({.key = "step",
                    .value = sample ? Json(sample->step) : Json(),
                    .text = sample ? SamplesText(*sample) : ""});
  report.push_back(
      {.key = "place", .value = sample ? Json(sample->place) : Json()});
  report.push_back(
      {.key = "samples",
       .value =
           sample ? Json{{"a", SampleOrNull(sample->a, sample->fingerprint_a)},
                         {"b", SampleOrNull(sample->b, sample->fingerprint_b)}}
                  : Json()});
  report.push_back({.key = "no_sample",
                    .value = why.empty() ? Json() : Json(why),
                    .text = why.empty() ? ""
                                        : "the samples cannot be shown: " +
                                              ShownText(why) + "\n"});
}

}  // namespace

ReportTable ComparisonReport(const RunComparison& comparison) {
  const FingerprintMatch& match = comparison.match;
  const RunDifferences& differences = comparison.differences;
  const auto run_row = [](const char* key, const char* name,
                          const std::string& model_dir, std::int64_t steps) {
    return ReportRow{key, RunJson(model_dir, steps),
                     fmt::format("{}: {}, {}\n", name, ShownText(model_dir),
                                 CountText(steps, "step"))};
  };
  ReportTable report = {
      {.key = "schema", .value = 1},
      run_row("a", "A", comparison.model_dir_a, comparison.steps_a),
      run_row("b", "B", comparison.model_dir_b, comparison.steps_b),
      {.key = "same",
       .value = match.is_equal(),
       .text = ResultText(comparison)},
      {.key = "equal_steps", .value = match.equal_steps},
      {.key = "differs_by",
       .value = match.is_equal() ? Json() : Json(match.differs_by)},
      {.key = "pixels", .value = match.has_pixels},
      DifferencesRow("differences", WhyTitle(comparison),
                     differences.of_input)};
  if (!match.is_equal() && differences.of_input.empty()) {
    report.push_back(
        {.text = "no recorded parameter, data or version differs\n"});
  }
  report.push_back({.key = "shards",
                    .value = differences.shards,
                    .text = ShardsText(comparison)});
  report.push_back({.key = "shard_names", .value = comparison.shard_names});
  report.push_back(DifferencesRow("on_device",
                                  "what the device makes of a batch differs by",
                                  differences.on_device));
  report.push_back(DifferencesRow(
      "without_effect", "without effect on the input", differences.others));
  AddSamples(comparison, report);
  return report;
}

}  // namespace infeed
