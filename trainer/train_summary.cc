#include "trainer/train_summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pipeline/stats_table.h"
#include "trainer/train_verdict.h"

namespace infeed {
namespace {

// The bad records that any of the ranks met, in words; empty: none.
std::string BadRecordsText(const PipelineStats& mine, Ranks& ranks) {
  double met = 0;
  for (const std::vector<double>& of_rank :
       ranks.GatherNumbers({static_cast<double>(mine.bad_records)})) {
    met += of_rank[0];
  }
  const std::vector<std::string> first = ranks.Gather(mine.first_bad_record);
  const auto found = std::ranges::find_if(
      first, [](const std::string& message) { return !message.empty(); });
  if (met == 0 || found == first.end()) {
    return "";
  }
  return ranks.place().is_alone()
             ? fmt::format("{:.0f} bad records; the first: {}", met, *found)
             : fmt::format(
                   "{:.0f} bad records on all ranks; the first of rank {}: {}",
                   met, found - first.begin(), *found);
}

void PrintInput(const PipelineStats& stats) {
  if (stats.seek_indexes.refused > 0) {
    Say(SeekIndexText(stats.seek_indexes));
  }
  if (stats.cache.limit_bytes > 0) {
    Say(fmt::format("cache: {} records in {:.0f} MiB answered {} reads",
                    stats.cache.records, MiB(stats.cache.bytes),
                    stats.cache.hits));
  }
  Say(StageTable(stats) + QueueText(stats));
}

// Whose input was slowest: its share of all ranks' time.
std::string RanksText(const std::vector<double>& waits, double seconds) {
  const auto worst = std::ranges::max_element(waits);
  return fmt::format(
      "of {} ranks, rank {} waited longest for its input: {:.1f} % of the time "
      "in loops; what follows is rank 0's",
      waits.size(), worst - waits.begin(),
      seconds > 0 ? 100 * *worst / seconds : 0.0);
}

}  // namespace

void PrintSummary(const Job& job, const Training& training, const RunLog& log) {
  const PipelineStats stats = training.input_stats_of_loops();
  const std::string bad_records = BadRecordsText(stats, job.ranks);
  if (!job.ranks.place().is_first()) {
    return;
  }
  Say(fmt::format(
      "\ntrained at {:.1f} images/s; the device waited {:.1f} % of "
      "the time for its input",
      log.images_per_second(), 100 * log.times().input_wait_share()));
  Say(log.device_text());
  if (!job.ranks.place().is_alone()) {
    Say(RanksText(training.rank_waits(), stats.elapsed_seconds));
  }
  if (!bad_records.empty()) {
    Say(bad_records);
  }
  if (!stats.stages.empty()) {  // Fake data has none.
    PrintInput(stats);
  }
  Say(TrainVerdict(log.times(), stats, job.params.iterations_per_loop));
}

}  // namespace infeed
