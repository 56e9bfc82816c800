#include "trainer/run/train_summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pipeline/stats/table.h"
#include "records/bytes/byte_size.h"
#include "trainer/report/train_verdict.h"

namespace infeed {
namespace {

// On rank 0 a text about the bad records of all ranks; empty: none.
std::string BadRecordsText(const PipelineStats& mine, Ranks& ranks) {
  const double met =
      ranks.Total({static_cast<double>(mine.bad_records)})[0].sum;
  const std::vector<std::string> first = ranks.Collect(mine.first_bad_record);
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

// A text about other programs' load on rank 0's machine, if it was too high;
// else empty.
std::string LoadText(const Job& job) {
  const RankPlace& place = job.ranks.place();
  const std::optional<CpuTimes> now = ReadCpuTimes();
  const bool is_known = job.start && now;
  const bool is_beside_first = place.rank == place.local_rank;
  const double own =
      job.ranks
          .Total(
              {is_known && is_beside_first ? now->own - job.start->own : 0})[0]
          .sum;
  const std::optional<CpuLoad> load =
      is_known ? LoadBetween(*job.start, *now, own) : std::nullopt;
  return load && load->is_too_high()
             ? load->Text() + ": without them the run would be faster"
             : "";
}

void PrintInput(const PipelineStats& stats) {
  if (stats.seek_indexes.refused > 0) {
    Say(SeekIndexText(stats.seek_indexes));
  }
  if (stats.cache.limit_bytes > 0) {
    Say(fmt::format("cache: {} records in {} answered {} reads",
                    stats.cache.records, MemorySizeText(stats.cache.bytes),
                    stats.cache.hits));
  }
  Say(StageTable(stats) + QueueText(stats));
}

// The rank with the slowest input, and its waits as a share of the time in
// loops. Empty: a single process runs.
std::string RanksText(const PipelineStats& mine, Ranks& ranks) {
  if (ranks.place().is_alone()) {
    return "";
  }
  const RankTotal wait =
      ranks.Total({mine.first_wait_seconds + mine.consumer_wait_seconds})[0];
  return fmt::format(
      "of {} ranks, rank {} waited longest for its input: {:.1f} % of the time "
      "in loops; what follows is rank 0's",
      ranks.place().world_size, wait.rank,
      mine.elapsed_seconds > 0 ? 100 * wait.most / mine.elapsed_seconds : 0.0);
}

}  // namespace

void PrintSummary(const Job& job, const Training& training, const RunLog& log) {
  const PipelineStats stats = training.input_stats_of_loops();
  const std::string bad_records = BadRecordsText(stats, job.ranks);
  const std::string slowest = RanksText(stats, job.ranks);
  const std::string load = LoadText(job);
  if (!job.ranks.place().is_first()) {
    return;
  }
  Say(fmt::format(
      "\ntrained at {:.1f} images/s; the device waited {:.1f} % of "
      "the time for its input",
      log.images_per_second(), 100 * log.times().input_wait_share()));
  Say(log.device_text());
  if (!slowest.empty()) {
    Say(slowest);
  }
  if (!bad_records.empty()) {
    Say(bad_records);
  }
  if (!stats.stages.empty()) {  // Fake data has none.
    PrintInput(stats);
  }
  Say(TrainVerdict(log.times(), stats, job.params.iterations_per_loop));
  if (!load.empty()) {
    Say(load);
  }
}

}  // namespace infeed
