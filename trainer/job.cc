#include "trainer/job.h"

#include <atomic>
#include <cstdio>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "trainer/rank_parts.h"
#include "trainer/resume.h"
#include "trainer/run_options.h"
#include "trainer/run_storage.h"
#include "trainer/warm_start.h"

namespace infeed {

namespace {

std::atomic<bool> unheard = false;

}  // namespace

void Say(const std::string& line) {
  if (!unheard) {
    fmt::print(stderr, "{}\n", line);
  }
}

void BeUnheard() { unheard = true; }

DataSet DataOf(const RunOptions& options) {
  return options.data_dir.empty()
             ? DataSet()
             : DataSet(options.data_dir, options.params.values.eval_split);
}

void RequireSplits(const RunOptions& options, const DataSet& data) {
  if (Trains(options.mode) && !data.has_train()) {
    throw UsageError("data_dir=" + options.data_dir +
                     ": no train-* shards to train on; use --mode eval, or "
                     "another data_dir");
  }
  const std::string& split = options.params.values.eval_split;
  const bool must_evaluate =
      options.mode == Mode::kEval ||
      (options.mode == Mode::kTrainAndEval && split != "auto");
  if (must_evaluate && !data.has_eval()) {
    throw UsageError("data_dir=" + options.data_dir + ": no " +
                     (split == "auto" ? "validation-* or test" : split) +
                     "-* shards to evaluate");
  }
}

InputOptions EvalInput(const Job& job) {
  InputOptions input = PartOf(EvalInputOf(job.params), job.options.place);
  input.trace = job.options.trace;
  return input;
}

namespace {

// Of a run that trains: what makes the checkpoint another run's. Others may
// look at it in any way.
std::string DifferenceOf(const Job& job, const Checkpoint& checkpoint) {
  return Trains(job.options.mode)
             ? FirstDifference(IdentityOf(job.params, job.data,
                                          job.options.place.world_size),
                               checkpoint.identity)
             : "";
}

// Rank 0's part of Restore().
std::optional<RunStart> ReadCheckpoint(const Job& job, bool& unusable) {
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint =
      FindResume(job.options.model_dir, job.options.resume,
                 Trains(job.options.mode), damaged);
  for (const std::string& message : damaged) {
    Say("damaged checkpoint, not used: " + message);
  }
  unusable = !checkpoint && !damaged.empty();
  if (!checkpoint) {
    return std::nullopt;
  }
  const std::string difference = DifferenceOf(job, *checkpoint);
  if (!difference.empty()) {
    if (!job.options.force) {
      throw UsageError("model_dir=" + job.options.model_dir +
                       ": its checkpoint is of another run: " + difference +
                       "; give another model_dir, or --force to go on from it");
    }
    Say("going on in spite of a difference (--force): " + difference);
  }
  job.device.Load(checkpoint->state);
  Say(fmt::format("{} the checkpoint at step {}",
                  Trains(job.options.mode) ? "going on from" : "using",
                  checkpoint->step));
  return RunStart{.step = checkpoint->step, .stream = checkpoint->stream};
}

WarmStarted ReadWeights(const Job& job) {
  std::string path = job.params.resnet_checkpoint;
  if (path.empty()) {
    return {};
  }
  if (job.options.storage != nullptr) {
    path = job.options.storage->Fetched(path);
  }
  TensorMap weights = job.device.Save().model;
  WarmStarted started = WarmStart(path, ModelOf(job.params), weights);
  Say(started.text);
  job.device.LoadWeights(weights);
  return started;
}

// For a model that is used as it is: a classifier that was never trained says
// nothing.
void ReadTrainedWeights(const Job& job, std::string_view purpose) {
  const WarmStarted started = ReadWeights(job);
  if (!started.head_left.empty()) {
    throw UsageError(fmt::format(
        "resnet_checkpoint={}: nothing to {}: {}; train the model first, or "
        "give the parameters of those weights (num_label_classes)",
        job.params.resnet_checkpoint, purpose, started.head_left));
  }
}

}  // namespace

std::optional<RunStart> Restore(const Job& job, bool& unusable) {
  std::optional<RunStart> start;
  if (job.ranks.place().is_first()) {
    start = ReadCheckpoint(job, unusable);
  }
  const RunStart mine = start.value_or(RunStart{});
  std::istringstream told(job.ranks.Broadcast(
      fmt::format("{:d} {:d} {} {} {}", start.has_value(), unusable, mine.step,
                  mine.stream.epoch, mine.stream.position)));
  bool found = false;
  RunStart of_all;
  told >> found >> unusable >> of_all.step >> of_all.stream.epoch >>
      of_all.stream.position;
  if (!found) {
    return std::nullopt;
  }
  job.device.Broadcast();
  return of_all;
}

void StartFromWeights(const Job& job) {
  if (job.ranks.place().is_first()) {
    ReadWeights(job);
  }
  job.device.Broadcast();
}

std::optional<std::int64_t> LoadTrained(const Job& job,
                                        std::string_view purpose) {
  bool unusable = false;
  const std::optional<RunStart> from = Restore(job, unusable);
  if (from) {
    return from->step;
  }
  if (unusable) {
    (void)Unusable(job.options.model_dir);
    return std::nullopt;
  }
  if (job.params.resnet_checkpoint.empty()) {
    throw UsageError(
        fmt::format("model_dir={}: no checkpoint to {}; train one first, or "
                    "give weights as resnet_checkpoint",
                    job.options.model_dir, purpose));
  }
  if (job.ranks.place().is_first()) {
    ReadTrainedWeights(job, purpose);
  }
  job.device.Broadcast();
  return 0;
}

ExitCode Unusable(const std::string& model_dir) {
  Say(model_dir +
      ": no checkpoint in it is whole; move them away to start anew");
  return ExitCode::kCheckpointUnusable;
}

}  // namespace infeed
