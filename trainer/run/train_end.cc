#include "trainer/run/train_end.h"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/log/run_history.h"
#include "trainer/model/non_finite.h"
#include "trainer/model_dir/model_dir.h"

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

}  // namespace

ExitCode StopEarly(Training& training, RunLog& log) {
  training.SaveCheckpoint();
  training.FinishCheckpoint();
  log.End(training.step(), RunEnd::kStopped);
  Say(fmt::format(
      "stopped at step {} as asked; the same command goes on from there",
      training.step()));
  return ExitCode::kStoppedBySignal;
}

ExitCode Diverged(const Job& job, Training& training, RunLog& log) {
  training.FinishCheckpoint();
  const std::int64_t step = training.non_finite_step().value_or(0);
  log.End(step, RunEnd::kDiverged);
  PrintTensors(job, training.step());
  const std::vector<std::int64_t> good = ListCheckpoints(job.options.model_dir);
  Say(fmt::format(
      "the loss of step {} is not finite; {}: lower base_learning_rate", step,
      good.empty() ? "there is no earlier checkpoint"
                   : fmt::format("the last good checkpoint is of step {}",
                                 good.back())));
  return ExitCode::kNonFiniteLoss;
}

bool Evaluates(const Job& job) {
  return job.options.mode == Mode::kTrainAndEval && job.data.has_eval();
}

bool HasNothingToDo(const Job& job, std::int64_t step) {
  if (step < job.params.train_steps) {
    return false;
  }
  // True if the run was interrupted between its last step and that step's
  // evaluation.
  const bool lacks_evaluation =
      Evaluates(job) && job.ranks.place().is_first() &&
      !std::filesystem::exists(EvalPath(job.options.model_dir, step));
  return !job.ranks.Any(lacks_evaluation);
}

ExitCode NothingToDo(const Job& job, std::int64_t step) {
  Say(fmt::format(
      "nothing to do: step {} of {}; a greater train_steps (or train_epochs) "
      "trains on",
      step, job.params.train_steps));
  fmt::print("step {}\n", step);
  ExportAtEnd(job, step);
  return ExitCode::kDone;
}

void ExportAtEnd(const Job& job, std::int64_t step) {
  const std::string& model_dir = job.options.model_dir;
  if (job.options.export_dir.empty() || !job.ranks.place().is_first()) {
    return;
  }
  if (job.params.keep_best != "none") {
    // BestCheckpoint checks the file's metric.
    if (const auto best =
            BestCheckpoint(model_dir, job.params.keep_best).step()) {
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
  ExportNow(job, step);
}

}  // namespace infeed
