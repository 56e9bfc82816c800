#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/options/options.h"
#include "records/bytes/byte_size.h"
#include "records/cloud/cloud_settings.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/eval_history.h"
#include "trainer/feed/resident_images.h"
#include "trainer/feed/run_input.h"
#include "trainer/feed/sized_input.h"
#include "trainer/groups/torch_errors.h"
#include "trainer/log/step_watch.h"
#include "trainer/loop/evaluation.h"
#include "trainer/params/station_options.h"
#include "trainer/params/table.h"
#include "trainer/run/data_classes.h"
#include "trainer/run/description.h"
#include "trainer/run/job.h"
#include "trainer/run/memory.h"
#include "trainer/run/modes.h"
#include "trainer/run/past_evaluations.h"
#include "trainer/run/train_end.h"
#include "trainer/run/training.h"

namespace infeed {
namespace {

bool DrawsInSteps(const TrainParams& params) {
  return params.model.dropout_rate > 0 || params.model.drop_connect_rate > 0 ||
         !params.dropblock_groups.empty();
}

// Why this run must read its images from records; empty: it need not.
std::string ReasonAgainst(const Job& job) {
  const TrainParams& params = job.params;
  if (job.data.is_fake()) {
    return "the data is fake";
  }
  if (!job.ranks.place().is_alone()) {
    return "there are several ranks";
  }
  if (params.input.input_hash == InputHash::kPixels) {
    return "input_hash=pixels needs each image on the host";
  }
  if (!IsGpu(job.options.device)) {
    return "";
  }
  if (params.cuda_graph == GraphReplay::kFalse) {
    return "it needs cuda_graph=true";
  }
  return DrawsInSteps(params) ? "dropout_rate, drop_connect_rate and "
                                "dropblock_groups have the host seed each step"
                              : "";
}

// Checks the machine's memory; Hold() checks a GPU's.
void RequireRoom(const Job& job, const ResidentShape& shape) {
  const std::int64_t limit = job.params.input.memory_limit;
  if (!IsGpu(job.options.device) && shape.bytes() > limit) {
    throw UsageError(fmt::format(
        "data_on_device: {} images take {}, but memory_limit is {}: raise it, "
        "or give data_on_device=false",
        shape.images, MemorySizeText(shape.bytes()), MemorySizeText(limit)));
  }
}

// Copies the training images to the device if data_on_device is set. Returns
// null otherwise, and if this run cannot hold them there; the reason is then
// printed. Throws UsageError for options with random transformations other than
// mirroring, for records without packed pixels, and for images that do not fit
// on the device; DataError for a record that cannot be read.
HeldRecords HoldImages(const Job& job, const InputOptions& input) {
  if (!job.params.data_on_device) {
    return nullptr;
  }
  if (const std::string reason = ReasonAgainst(job); !reason.empty()) {
    Say("data_on_device: images are read from the records as needed: " +
        reason);
    return nullptr;
  }
  CheckResident(input);
  if (!job.params.image_size_schedule.empty()) {
    throw UsageError(
        "data_on_device: packed pixels have one size; leave "
        "image_size_schedule out, or give data_on_device=false");
  }
  const RecordIndex& index = *job.data.train_index();
  const ResidentShape shape = ComputeResidentShape(index, input);
  RequireRoom(job, shape);
  HeldRecords held = ReadResidentImages(index, input, job.device.Hold(shape));
  Say(fmt::format("data_on_device: {}, {}", CountText(shape.images, "image"),
                  MemorySizeText(shape.bytes())));
  return held;
}

std::optional<EvalResult> EvaluateHere(const Job& job, Training& training,
                                       RunLog& log, PastEvaluations& past,
                                       const std::stop_token& stop) {
  InputOptions input = EvalInput(job);
  input.trace = training.trace();
  SayChangedShards(job, job.data.train());
  SayChangedShards(job, job.data.eval());
  std::optional<EvalResult> result;
  TranslateTorchErrors(
      [&] {
        result = Evaluate(job.device, job.data.eval_index(), input,
                          {.label_offset = LabelOffsetOf(job.params)},
                          job.ranks, stop, job.params.eval_live_weights);
      },
      MakeOutOfMemoryText(EvaluationNeed(job.options, job.params), job.memory));
  if (result) {
    const std::int64_t step = training.step();
    log.Say(EvalText(step, past.subject(), *result, job.params.keep_best));
    past.Add(step, *result);
    training.NoteEvaluation(step, past.Value(step, job.params.keep_best));
    // Last, since an evaluation that has its file is not repeated after a kill.
    log.Evaluation(step, *result);
  }
  return result;
}

// The step up to which to train: that of the next evaluation.
std::int64_t NextTarget(const Job& job, std::int64_t step,
                        const EvalSteps& evaluations,
                        const PastEvaluations& past) {
  if (past.LacksEvaluationAt(step)) {
    return step;
  }
  return Evaluates(job) ? evaluations.NextAfter(step) : job.params.train_steps;
}

// The main loop: trains to the next evaluation, saves, evaluates, repeats.
ProgramEnd TrainAndEvaluate(const Job& job, Training& training, RunLog& log,
                            PastEvaluations& past,
                            const std::stop_token& stop) {
  const TrainParams& params = job.params;
  const bool evaluates = Evaluates(job);
  const EvalSteps evaluations = EvalStepsOf(job, training.step());
  double top_1 = 0;
  do {
    const std::int64_t target =
        NextTarget(job, training.step(), evaluations, past);
    switch (training.TrainTo(target, stop)) {
      case Training::End::kStopped:
        return StopEarly(job, training, log);
      case Training::End::kDiverged:
        return Diverged(job, training, log);
      case Training::End::kReached:
        break;
    }
    if (!training.SaveCheckpoint()) {
      return Diverged(job, training, log);
    }
    if (evaluates) {
      const std::optional<EvalResult> result =
          EvaluateHere(job, training, log, past, stop);
      if (!result) {
        return StopEarly(job, training, log);
      }
      top_1 = result->top_1;
    }
  } while (training.step() < params.train_steps && !past.is_over());
  if (past.is_over()) {
    log.Say(past.OverText());
  }
  training.FinishCheckpoint();
  log.End(training.step(), RunEnd::kDone);
  PrintSummary(job, training, log);
  fmt::print("step {}", training.step());
  if (evaluates) {
    fmt::print("  top-1 {:.4f}", top_1);
  }
  fmt::print("\n");
  return ExitCode::kDone;
}

void PrintTraining(const Job& job, const Training& training) {
  const TrainParams& params = job.params;
  const MemoryNeed need =
      TrainingNeed(job.options, params, training.input_memory_bytes());
  WarnOfMemory(need, WithGpu(job.memory, need));
  Say(fmt::format("input:  up to {} of memory, memory_limit {}",
                  MemorySizeText(training.input_memory_bytes()),
                  MemorySizeText(params.input.memory_limit)));
  Say(fmt::format("training for {} ({:.2f} epochs in total), current step {}",
                  CountText(params.train_steps, "step"),
                  static_cast<double>(params.train_steps) *
                      params.input.batch_size /
                      static_cast<double>(params.num_train_images),
                  training.step()));
}

// On a GPU the host is ahead of the device, and cannot measure when a step
// begins.
StepWatchOptions WatchOf(const Job& job) {
  if (IsGpu(job.options.device)) {
    return {.patience = std::nullopt, .say = [](const std::string&) {}};
  }
  const InputOptions& input = job.params.input;
  const int images = input.batch_size / job.options.place.world_size;
  return {.work = CountText(images, "image") + " on " + job.device.Describe(),
          .advice = fmt::format(
              "a smaller {} or {}", NameOf(job.params, &input.batch_size),
              NameOf(job.params, &input.preprocess.image_size)),
          .say = Say};
}

struct TrainTask {
  InputOptions input = {};
  HeldRecords held = nullptr;
  std::optional<RunStart> from = {};  // nullopt: a new training
  std::optional<PastEvaluations> past = {};

  [[nodiscard]] RunStart start() const { return from.value_or(RunStart{}); }
};

// Looks for the best checkpoint among those up to the start: a run that was
// killed after an evaluation may not have passed it on, and the best one may
// have been a later one, which the run went back behind.
void NotePast(const Job& job, const PastEvaluations& past, Training& training) {
  if (!job.ranks.place().is_first()) {
    return;
  }
  const std::int64_t start = training.step();
  for (const std::int64_t step : ListCheckpoints(job.options.model_dir)) {
    if (step <= start) {
      training.NoteEvaluation(step, past.Value(step, job.params.keep_best));
    }
  }
}

ProgramEnd Train(const Job& job, TrainTask& task, const std::stop_token& stop) {
  const RunStart start = task.start();
  PastEvaluations& past = *task.past;
  if (job.ranks.place().is_first()) {
    ForgetBestAfter(start.step, job.options.model_dir);
    ForgetEvaluationsAfter(start.step, job.options.model_dir);
  }
  if (!job.ranks.place().is_alone()) {
    // All ranks end after the same step, which still needs its images.
    EndCloudRequestsAt({});
  }
  Profiler profiler(ProfilerOf(job, start.step), job.options.trace);
  const std::unique_ptr<RunLog> log =
      MakeLog(job, start.step, past.subject(), profiler);
  task.input.trace = profiler.trace();
  StepWatch watch(WatchOf(job));
  Training training(job,
                    {.input = task.input,
                     .held = task.held,
                     .validation = past.validation(),
                     .log = *log,
                     .watch = watch},
                    start);
  const LiveStats::Shown shown(job.options.live_stats,
                               [&training] { return training.input_stats(); });
  PrintTraining(job, training);
  NotePast(job, past, training);
  ProgramEnd end = TrainAndEvaluate(job, training, *log, past, stop);
  if (end.code == ExitCode::kDone) {
    ExportAtEnd(job, past.subject(), training.step());
    PrintNext(job);
  }
  return end;
}

// The reason why a resumed run has nothing left to do; "": it has work.
std::string NothingLeftText(const Job& job, const TrainTask& task) {
  const std::int64_t step = task.start().step;
  if (task.from && task.past->is_over()) {
    return task.past->OverText();
  }
  if (task.from && step >= job.params.train_steps &&
      !task.past->LacksEvaluationAt(step)) {
    return fmt::format(
        "step {} of {}; raise train_steps (or train_epochs) to train further",
        step, job.params.train_steps);
  }
  return "";
}

// Prints the work that is left, for a dry run.
void SayPlan(const Job& job, const TrainTask& task) {
  const TrainParams& params = job.params;
  if (const std::string nothing = NothingLeftText(job, task);
      !nothing.empty()) {
    return Say("nothing to do: " + nothing);
  }
  std::string text = fmt::format(
      "would train from step {} to {} in loops of {}, batches of {}",
      task.start().step, params.train_steps, params.iterations_per_loop,
      params.input.batch_size);
  if (Evaluates(job)) {
    text += fmt::format(
        ", and evaluate {} {}", CountText(params.num_eval_images, "image"),
        params.steps_per_eval > 0
            ? "every " + CountText(params.steps_per_eval, "step")
            : "at the end of each epoch");
  }
  Say(text);
}

// Loads the checkpoint, or the weights to start from, onto the device; also the
// images if they are kept there.
void LoadStart(const Job& job, TrainTask& task) {
  task.from = Restore(job);
  if (task.from) {
    RequireSameClasses(job);
  } else {
    StartFromWeights(job);
  }
}

// Prints a line on checkpoints that keep_every asks for in vain.
void NoteUnsavedMultiples(const Job& job, std::int64_t first_step) {
  const TrainParams& params = job.params;
  if (!params.image_size_schedule.empty()) {
    return;  // Loops also end where the size changes.
  }
  const std::string text = UnsavedMultiplesText(
      params.keep_every, {.loop = params.iterations_per_loop,
                          .interval = params.steps_per_checkpoint,
                          .evaluates = Evaluates(job),
                          .evaluations = EvalStepsOf(job, first_step)});
  if (!text.empty()) {
    Say(text);
  }
}

// Throws what Train()'s input would throw, before anything is written. A dry
// run has begun an input (Forecast()), but not where a run resumes.
void RequireInput(const Job& job, const TrainTask& task, bool is_dry_run) {
  if (is_dry_run && !task.from) {
    return;
  }
  const TrainParams& params = job.params;
  CheckSizedInput(job.data.train_index(), task.input,
                  ImageSizeSchedule(params.image_size_schedule,
                                    params.input.preprocess.image_size),
                  task.start().stream, !task.held && !is_dry_run);
}

void RequireOutputs(const Job& job) {
  if (job.ranks.place().is_first() && !job.options.export_dir.empty()) {
    RequireExportable(job.options);
  }
}

}  // namespace

Work PrepareTraining(const Job& job, Preparation& preparation) {
  const auto task = std::make_shared<TrainTask>();
  preparation.Do([&] { RequireEvaluations(job); });
  preparation.Do([&] { RequireOutputs(job); });
  preparation.Do([&] {
    task->input = PartOf(job.params.input, job.options.place);
    task->input.on_note = SayNote;
    task->held = HoldImages(job, task->input);
  });
  preparation.Do([&] { LoadStart(job, *task); });
  preparation.Do([&] { RequireInput(job, *task, preparation.is_dry_run()); });
  preparation.Do([&] {
    const PastEvaluations& past = task->past.emplace(job, task->start().step);
    // These throw for a damaged file.
    (void)BestCheckpoint(job.options.model_dir, job.params.keep_best,
                         past.subject().key);
    (void)ReadEvalHistory(job.options.model_dir);
  });
  preparation.Do([&] { NoteUnsavedMultiples(job, task->start().step); });
  if (preparation.is_dry_run() && task->past) {
    SayPlan(job, *task);
  }
  return [&job, task](const std::stop_token& stop) -> ProgramEnd {
    if (const std::string nothing = NothingLeftText(job, *task);
        !nothing.empty()) {
      return NothingToDo(job, task->past->subject(), task->start().step,
                         nothing);
    }
    if (job.ranks.place().is_first()) {
      WriteDescription(job);
    }
    return Train(job, *task, stop);
  };
}

}  // namespace infeed
