#include "trainer/run.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "pipeline/autotune.h"
#include "pipeline/stats_table.h"
#include "pipeline/verdict.h"
#include "trainer/checkpoint.h"
#include "trainer/data_set.h"
#include "trainer/device_loop.h"
#include "trainer/evaluation.h"
#include "trainer/model_dir.h"
#include "trainer/run_options.h"
#include "trainer/train_log.h"
#include "trainer/training.h"

namespace infeed {
namespace {

// What a run has at hand once its parameters are resolved.
struct Job {
  const RunOptions& options;
  const RunParams& resolved;
  const TrainParams& params;  // resolved.values
  const DataSet& data;
  DeviceLoop& device;
};

void Say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

double MiB(std::int64_t bytes) { return static_cast<double>(bytes) / 0x1p20; }

void RequireSplits(const RunOptions& options, const DataSet& data) {
  if (options.mode != Mode::kEval && !data.train()) {
    throw UsageError("data_dir=" + options.data_dir +
                     ": no train-* shards to train on; use --mode eval, or "
                     "another data_dir");
  }
  if (options.mode == Mode::kEval && !data.eval()) {
    throw UsageError("data_dir=" + options.data_dir +
                     ": no validation-* or test-* shards to evaluate");
  }
}

void PrintStart(const Job& job) {
  Say("data:   " + job.data.Describe());
  Say("device: " + job.device.Describe());
  Say(fmt::format("model:  ResNet-{}, {} parameters", job.params.resnet_depth,
                  job.device.parameter_count()));
  Say("parameters:\n" + ToYaml(job.resolved));
  if (job.options.mode == Mode::kTrainAndEval && !job.data.eval()) {
    Say("there are no validation-* or test-* shards: this run only trains");
  }
}

// Puts the newest usable checkpoint on the device. Throws UsageError when it
// belongs to another run; reports through `unusable` when there are
// checkpoints and none is whole.
std::optional<Checkpoint> Restore(const Job& job, bool& unusable) {
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint =
      LoadNewestCheckpoint(job.options.model_dir, damaged);
  for (const std::string& message : damaged) {
    Say("damaged checkpoint, not used: " + message);
  }
  unusable = !checkpoint && !damaged.empty();
  if (!checkpoint) {
    return std::nullopt;
  }
  const std::string difference =
      FirstDifference(IdentityOf(job.params, job.data), checkpoint->identity);
  if (!difference.empty() && job.options.mode != Mode::kEval) {
    if (!job.options.force) {
      throw UsageError("model_dir=" + job.options.model_dir +
                       ": its checkpoint is of another run: " + difference +
                       "; give another model_dir, or --force to go on from it");
    }
    Say("going on in spite of a difference (--force): " + difference);
  }
  job.device.Load(checkpoint->state);
  Say(fmt::format("going on from the checkpoint at step {}", checkpoint->step));
  return checkpoint;
}

ExitCode Unusable(const std::string& model_dir) {
  Say(model_dir +
      ": no checkpoint in it is whole; move them away to start anew");
  return ExitCode::kCheckpointUnusable;
}

ExitCode StopEarly(Training& training, TrainLog& log) {
  training.SaveCheckpoint();
  log.End(training.step());
  Say(fmt::format(
      "stopped at step {} as asked; the same command goes on from there",
      training.step()));
  return ExitCode::kStoppedBySignal;
}

ExitCode Diverged(const Job& job, TrainLog& log) {
  const std::int64_t step = log.non_finite_step().value_or(0);
  log.End(step);
  const std::vector<std::int64_t> good = ListCheckpoints(job.options.model_dir);
  Say(fmt::format(
      "the loss of step {} is not finite; {}: lower base_learning_rate", step,
      good.empty() ? "there is no earlier checkpoint"
                   : fmt::format("the last good checkpoint is of step {}",
                                 good.back())));
  return ExitCode::kNonFiniteLoss;
}

void PrintReport(const Training& training, const TrainLog& log) {
  const PipelineStats stats = training.input_stats_of_loops();
  Say(
      fmt::format("\ntrained at {:.1f} images/s; the device waited {:.1f} % of "
                  "the time for its input",
                  log.images_per_second(), 100 * training.input_wait()));
  if (stats.bad_records > 0) {
    Say(fmt::format("{} bad records; the first: {}", stats.bad_records,
                    stats.first_bad_record));
  }
  if (stats.seek_indexes.refused > 0) {
    Say(SeekIndexText(stats.seek_indexes));
  }
  Say(StageTable(stats) + QueueText(stats));
  Say(Verdict(stats));
}

InputOptions EvalInput(const Job& job) {
  InputOptions input = EvalInputOf(job.params);
  input.trace = job.options.trace;
  return input;
}

// Its threads and queues found by trying where that is asked for.
InputOptions TrainInput(const Job& job, InputOptions input,
                        const StreamPosition& start) {
  input.trace = job.options.trace;
  if (!job.params.autotune) {
    return input;
  }
  const AutotuneResult tuned = Autotune(job.data.train()->index, input, start,
                                        {.least_batches = kLeastBatches});
  Say("autotune: " + AutotuneText(tuned));
  return tuned.options;
}

std::optional<EvalResult> EvaluateHere(const Job& job, const Training& training,
                                       TrainLog& log,
                                       const std::stop_token& stop) {
  const std::optional<EvalResult> result =
      Evaluate(job.device, job.data.eval()->index, EvalInput(job), stop);
  if (result) {
    log.Evaluation(training.step(), *result);
  }
  return result;
}

// The training proper: train to the next evaluation, save, evaluate, go on.
ExitCode TrainAndEvaluate(const Job& job, Training& training, TrainLog& log,
                          const std::stop_token& stop) {
  const TrainParams& params = job.params;
  const bool evaluates =
      job.options.mode == Mode::kTrainAndEval && job.data.eval();
  double top_1 = 0;
  do {
    const std::int64_t target =
        evaluates ? std::min(training.step() + params.steps_per_eval,
                             params.train_steps)
                  : params.train_steps;
    switch (training.TrainTo(target, stop)) {
      case Training::End::kStopped:
        return StopEarly(training, log);
      case Training::End::kNonFiniteLoss:
        return Diverged(job, log);
      case Training::End::kReached:
        break;
    }
    training.SaveCheckpoint();
    if (evaluates) {
      const std::optional<EvalResult> result =
          EvaluateHere(job, training, log, stop);
      if (!result) {
        return StopEarly(training, log);
      }
      top_1 = result->top_1;
    }
  } while (training.step() < params.train_steps &&
           (params.stop_at_top_1 <= 0 || top_1 < params.stop_at_top_1));
  log.End(training.step());
  PrintReport(training, log);
  fmt::print("step {}", training.step());
  if (evaluates) {
    fmt::print("  top-1 {:.4f}", top_1);
  }
  fmt::print("\n");
  return ExitCode::kDone;
}

ExitCode Train(const Job& job, const std::stop_token& stop) {
  const TrainParams& params = job.params;
  const std::string& model_dir = job.options.model_dir;
  MakeFolder(model_dir, "create the folder");
  bool unusable = false;
  const std::optional<Checkpoint> from = Restore(job, unusable);
  if (unusable) {
    return Unusable(model_dir);
  }
  WriteFileAtomically(ParamsPath(model_dir), ToYaml(job.resolved));
  const std::int64_t first_step = from ? from->step : 0;
  TrainLog log({.model_dir = model_dir,
                .batch_size = params.train_batch_size,
                .train_images = params.num_train_images,
                .first_step = first_step,
                .total_steps = params.train_steps,
                .steps_per_line = params.log_step_count_steps});
  const StreamPosition start = from ? from->stream : StreamPosition{};
  TrainingOptions options = TrainingOf(params, model_dir, job.data);
  options.input = TrainInput(job, options.input, start);
  Training training(options, job.data.train()->index, job.device, log,
                    first_step, start);
  const LiveStats::Shown shown(job.options.live_stats,
                               [&training] { return training.input_stats(); });
  Say(fmt::format("input:  up to {:.0f} MiB of memory, memory_limit {:.0f} MiB",
                  MiB(training.input_memory_bytes()),
                  MiB(params.memory_limit)));
  Say(fmt::format(
      "training for {} steps ({:.2f} epochs in total), current step {}",
      params.train_steps,
      static_cast<double>(params.train_steps) * params.train_batch_size /
          static_cast<double>(params.num_train_images),
      first_step));
  return TrainAndEvaluate(job, training, log, stop);
}

ExitCode EvaluateNewest(const Job& job, const std::stop_token& stop) {
  bool unusable = false;
  const std::optional<Checkpoint> from = Restore(job, unusable);
  if (unusable) {
    return Unusable(job.options.model_dir);
  }
  if (!from) {
    throw UsageError("model_dir=" + job.options.model_dir +
                     ": no checkpoint to evaluate; train one first");
  }
  const std::optional<EvalResult> result =
      Evaluate(job.device, job.data.eval()->index, EvalInput(job), stop);
  if (!result) {
    return ExitCode::kStoppedBySignal;
  }
  MetricsLog(job.options.model_dir)
      .Write("eval", from->step,
             {{"loss", result->loss},
              {"top_1", result->top_1},
              {"top_5", result->top_5},
              {"images", static_cast<double>(result->images)}});
  fmt::print("{}\n", EvalText(from->step, *result));
  return ExitCode::kDone;
}

}  // namespace

Mode ParseMode(std::string_view name) {
  if (name == "train") {
    return Mode::kTrain;
  }
  if (name == "eval") {
    return Mode::kEval;
  }
  if (name == "train_and_eval") {
    return Mode::kTrainAndEval;
  }
  throw UsageError("mode=" + std::string(name) +
                   ": must be train, eval or train_and_eval");
}

ExitCode Run(const RunOptions& options, const std::stop_token& stop) {
  const DataSet data(options.data_dir);
  RequireSplits(options, data);
  const RunParams resolved = Resolve(options.params, options.device, data);
  const TrainParams& params = resolved.values;
  DeviceLoop device(ModelOf(params), OptimizerOf(params),
                    DeviceOf(params, options.device));
  const Job job{options, resolved, params, data, device};
  PrintStart(job);
  if (options.dry_run) {
    Say("dry run: nothing was written");
    return ExitCode::kDone;
  }
  return options.mode == Mode::kEval ? EvaluateNewest(job, stop)
                                     : Train(job, stop);
}

}  // namespace infeed
