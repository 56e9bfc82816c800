#include "trainer/run/train_end.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/shell_word.h"
#include "pipeline/stats/text.h"
#include "records/bytes/byte_size.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/resume.h"
#include "trainer/log/run_history.h"
#include "trainer/log/train_verdict.h"
#include "trainer/model/non_finite.h"
#include "trainer/remote/run.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

// Ranks have the same weights and gradients; only their inputs differ.
void PrintTensors(const Job& job, std::int64_t step) {
  const std::vector<std::string> texts =
      job.ranks.Collect(NonFiniteText(job.device.FindNonFinite()));
  const std::string& first = texts.front();
  Say(fmt::format("not finite after step {}: {}", step,
                  first.empty() ? "no tensor, only the loss" : first));
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] != first) {
      Say(fmt::format("not finite on rank {}: {}", rank, texts[rank]));
    }
  }
}

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
  if (stats.seek_indexes.refused > 0 ||
      !stats.seek_indexes.write_error.empty()) {
    Say(SeekIndexText(stats.seek_indexes));
  }
  if (stats.cache.limit_bytes > 0) {
    Say(fmt::format("cache: {} in {} answered {} reads",
                    CountText(stats.cache.records, "record"),
                    MemorySizeText(stats.cache.bytes), stats.cache.hits));
  }
  SayLines(StageTable(stats) + WorkerTable(stats) + QueueText(stats));
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
      "in loops; the figures below are rank 0's",
      ranks.place().world_size, wait.rank,
      mine.elapsed_seconds > 0 ? 100 * wait.most / mine.elapsed_seconds : 0.0);
}

}  // namespace

ProgramEnd StopEarly(const Job& job, Training& training, RunLog& log) {
  if (!training.SaveCheckpoint()) {
    return Diverged(job, training, log);
  }
  training.FinishCheckpoint();
  log.End(training.step(), RunEnd::kStopped);
  const std::string bad_records =
      BadRecordsText(training.input_stats_of_loops(), job.ranks);
  if (!bad_records.empty() && job.ranks.place().is_first()) {
    Say(bad_records);
  }
  // Before the first new checkpoint the later ones of --resume are still there.
  const std::vector<std::int64_t> steps =
      ListCheckpoints(job.options.model_dir);
  const bool is_newest = !steps.empty() && steps.back() == training.step();
  return {ExitCode::kStoppedBySignal,
          fmt::format("stopped at step {} by a signal; the same command {}"
                      "resumes from there",
                      training.step(),
                      MayGoBack(job.options.resume) && is_newest
                          ? "without --resume "
                          : "")};
}

ProgramEnd Diverged(const Job& job, Training& training, RunLog& log) {
  training.FinishCheckpoint();
  const std::optional<std::int64_t> of_loss = training.non_finite_step();
  const std::int64_t step = of_loss.value_or(training.step());
  log.End(step, RunEnd::kDiverged);
  PrintTensors(job, training.step());
  std::vector<std::int64_t> good = ListCheckpoints(job.options.model_dir);
  std::erase_if(good, [&](std::int64_t other) { return other > step; });
  return {ExitCode::kNonFiniteLoss,
          fmt::format("the {} step {} {} not finite; {}: lower "
                      "base_learning_rate",
                      of_loss ? "loss of" : "weights after", step,
                      of_loss ? "is" : "are",
                      good.empty()
                          ? "there is no earlier checkpoint"
                          : fmt::format("the last good checkpoint is of step "
                                        "{}",
                                        good.back()))};
}

ProgramEnd NothingToDo(const Job& job, const EvalSubject& evaluations,
                       std::int64_t step, const std::string& why) {
  Say("nothing to do: " + why);
  fmt::print("step {}\n", step);
  ExportAtEnd(job, evaluations, step);
  return ExitCode::kDone;
}

void ExportAtEnd(const Job& job, const EvalSubject& evaluations,
                 std::int64_t step) {
  const std::string& model_dir = job.options.model_dir;
  if (job.options.export_dir.empty() || !job.ranks.place().is_first()) {
    return;
  }
  if (job.params.keep_best != "none") {
    // BestCheckpoint checks the file's metric and evaluations.
    if (const auto best =
            BestCheckpoint(model_dir, job.params.keep_best, evaluations.key)
                .step()) {
      job.device.Load(LoadCheckpoint(model_dir, *best).state);
      Say(fmt::format("exporting the checkpoint with the best {}: step {}",
                      job.params.keep_best, *best));
      step = *best;
    } else {
      Say(fmt::format(
          "no evaluation gave a best {}: exporting the last step, {}",
          job.params.keep_best, step));
    }
  }
  ExportNow(job, step, ModelLabels::OfModel(model_dir));
}

void PrintSummary(const Job& job, const Training& training, const RunLog& log) {
  const PipelineStats stats = training.input_stats_of_loops();
  const std::string bad_records = BadRecordsText(stats, job.ranks);
  const std::string slowest = RanksText(stats, job.ranks);
  const std::string load = LoadText(job);
  if (!job.ranks.place().is_first()) {
    return;
  }
  const RunTimes times = log.times();
  Say("");
  Say(fmt::format(
      "trained at {:.1f} images/s; the device waited {:.1f} % of the time for "
      "its input",
      times.images_per_second(job.params.input.batch_size),
      100 * times.input_wait_share()));
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
  SayLines(TrainVerdict(times, stats, job.params.iterations_per_loop));
  if (!load.empty()) {
    Say(load);
  }
}

void PrintNext(const Job& job) {
  if (!job.ranks.place().is_first() || job.data.is_fake()) {
    return;
  }
  const RemoteRun* const storage = job.options.storage;
  const std::string& here = job.options.model_dir;
  const std::string model = storage == nullptr ? here : storage->WithUrl(here);
  Say("report: " + PathIn(model, kReportFile));
  Say(fmt::format(
      "next:   train_resnet --model_dir {} --mode predict --input PHOTOS",
      ShellWord(model)));
}

}  // namespace infeed
