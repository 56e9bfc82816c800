#include "bench/engine/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pipeline/stats/text.h"
#include "pipeline/stats/verdict.h"
#include "records/bytes/byte_size.h"

namespace infeed {
namespace {

using Json = nlohmann::ordered_json;

// A number, or null if it was not measured.
Json OptionalJson(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

// The median round's statistics, with the figures over all rounds.
Json RunJson(const ThroughputRun& run) {
  Json json = Json::parse(StatsJson(run.stats));
  json["images_per_second"] = {{"median", run.median()},
                               {"min", run.images_per_second.front()},
                               {"max", run.images_per_second.back()},
                               {"spread", run.spread()},
                               {"rounds", run.images_per_second}};
  json["cpu_seconds_per_1000_images"] = run.cpu_seconds_per_1000;
  json["instructions_per_1000_images"] =
      OptionalJson(run.instructions_per_1000);
  json["input_wait"] = OptionalJson(run.input_wait);
  json["verdict"] = VerdictText(run);
  return json;
}

// Instructions in billions per 1,000 images.
std::string InstructionsText(const std::optional<double>& instructions) {
  return instructions ? fmt::format("{:.2f}", *instructions / 1e9) : "-";
}

std::string WaitText(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

// Whether a single stage was measured: a whole pipeline has several.
bool IsStageAlone(const ThroughputRun& run) {
  return run.stats.stages.size() == 1;
}

std::string PeakText(std::int64_t peak_rss_bytes) {
  return fmt::format(
      "peak memory: {} of the whole process, libraries included\n",
      MemorySizeText(peak_rss_bytes));
}

// The text of a run besides its stages and its verdict.
std::string PipelineText(const ThroughputRun& run,
                         std::int64_t peak_rss_bytes) {
  std::string text = SeekIndexText(run.stats.seek_indexes) + "\n" +
                     QueueText(run.stats) + "\n";
  if (run.stats.bad_records > 0) {
    text += fmt::format("bad records: {}, the first: {}\n",
                        run.stats.bad_records, run.stats.first_bad_record);
  }
  return text + fmt::format("\ntime to first batch: {:.3f} s\n{}{}\n",
                            run.stats.first_batch_seconds,
                            PeakText(peak_rss_bytes), MemoryText(run.memory));
}

std::string RatesTable(const std::vector<ThroughputRun>& runs) {
  std::string text =
      fmt::format("{:>7} {:>12} {:>9} {:>9} {:>7} {:>12} {:>13} {:>10}\n",
                  "threads", "images/s", "min", "max", "spread", "CPU s/1,000",
                  "G instr/1,000", "input wait");
  for (const ThroughputRun& run : runs) {
    text += fmt::format(
        "{:>7} {:>12.1f} {:>9.1f} {:>9.1f} {:>5.1f} % {:>12.3f} {:>13} "
        "{:>10}\n",
        run.threads, run.median(), run.images_per_second.front(),
        run.images_per_second.back(), 100 * run.spread(),
        run.cpu_seconds_per_1000, InstructionsText(run.instructions_per_1000),
        WaitText(run.input_wait));
  }
  return text;
}

std::string LoadText(const ThroughputRun& run) {
  return run.load && run.load->is_too_high()
             ? "; " + run.load->Text() + ": without them this would be faster"
             : "";
}

}  // namespace

const ThroughputRun& FastestRun(const std::vector<ThroughputRun>& runs) {
  return *std::ranges::max_element(runs, {}, &ThroughputRun::median);
}

std::string VerdictText(const ThroughputRun& run) {
  if (!IsStageAlone(run)) {
    return Verdict(run.stats) + LoadText(run);
  }
  return fmt::format(
      "{} alone: {:.1f} images/s, {:.1f} of each thread; an upper bound for a "
      "pipeline with {} thread{}",
      run.stats.stages.front().name, run.median(), run.median() / run.threads,
      run.threads, run.threads == 1 ? "" : "s");
}

std::string ThroughputText(const std::vector<ThroughputRun>& runs,
                           std::int64_t peak_rss_bytes) {
  std::string text = RatesTable(runs);
  const ThroughputRun& fastest = FastestRun(runs);
  text += fmt::format("\nThe median round with {} thread{}:\n{}\n{}\n",
                      fastest.threads, fastest.threads == 1 ? "" : "s",
                      StageTable(fastest.stats), VerdictText(fastest));
  return text + (IsStageAlone(fastest) ? PeakText(peak_rss_bytes)
                                       : PipelineText(fastest, peak_rss_bytes));
}

std::string ThroughputJson(const std::vector<ThroughputRun>& runs,
                           const ThroughputOptions& options,
                           std::int64_t records, std::int64_t peak_rss_bytes) {
  Json json = RunJson(FastestRun(runs));
  json["peak_rss_bytes"] = peak_rss_bytes;
  json["records"] = records;
  json["batch_size"] = options.input.batch_size;
  json["image_size"] = options.input.preprocess.image_size;
  json["recipe"] = ChoiceName(options.input.preprocess.recipe, kRecipes);
  json["scaled_decode"] = options.input.preprocess.scaled_decode;
  json["training"] = options.input.training;
  json["seed"] = options.input.seed;
  json["seconds"] = options.seconds;
  json["graph"] = ChoiceName(options.input.graph, kGraphKinds);
  json["device_rate"] = options.device_rate;
  json["runs"] = Json::array();
  for (const ThroughputRun& run : runs) {
    json["runs"].push_back(RunJson(run));
  }
  return json.dump(2) + "\n";
}

}  // namespace infeed
