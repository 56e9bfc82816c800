#include "trainer/run/job.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/shown_text.h"
#include "pipeline/order/label_class.h"
#include "records/files/open_source.h"
#include "records/store/index_classes.h"
#include "records/store/open_shards.h"
#include "trainer/checkpoint/best_checkpoint.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/named_weights.h"
#include "trainer/checkpoint/resume.h"
#include "trainer/checkpoint/warm_start.h"
#include "trainer/feed/run_input.h"
#include "trainer/formats/host_tensor.h"
#include "trainer/model/lr_schedule.h"
#include "trainer/params/parse.h"
#include "trainer/params/station_options.h"
#include "trainer/params/validation.h"
#include "trainer/results/model_dir.h"

namespace infeed {

OnShardSetFaults ShardSetPolicy(const RunOptions& options) {
  return FaultsPolicy(options.params.values.allow_missing_shards,
                      [](const std::string& line) { Say(line); });
}

void SayScheduleAdvice(const RunParams& params, const DataSet& data) {
  if (data.is_fake()) {
    return;
  }
  if (const std::string missed = MissedEpochsText(params); !missed.empty()) {
    Say(missed);
  }
  for (const std::string& line :
       ScheduleAdvice(MakeOptimizerOptions(params.values).learning_rate)) {
    Say(line);
  }
}

std::vector<NamedOutput> OutputsOf(const RunOptions& options) {
  return {{"--trace", options.trace_path},
          {"--metrics_file", options.metrics_path},
          {"--predictions_page", options.predictions_page, true},
          {"bad_record_report", options.params.values.input.bad_record_report}};
}

namespace {

// Throws if a file named for results is part of the data, or is named twice.
void CheckRunOutputs(const RunOptions& options, const DataSet& data) {
  const TrainParams& params = options.params.values;
  std::vector<std::string> inputs = {params.selection.subset,
                                     params.selection.class_weights,
                                     params.selection.sample_weights};
  for (const std::optional<DataSplit>* split : {&data.train(), &data.eval()}) {
    if (*split) {
      const std::vector<std::string>& shards = (*split)->index.shards();
      inputs.insert(inputs.end(), shards.begin(), shards.end());
    }
  }
  CheckOutputs(OutputsOf(options), inputs);
}

}  // namespace

DataSet OpenData(const RunOptions& options) {
  if (options.data_dir.empty()) {
    return {};
  }
  const OnShardSetFaults policy = ShardSetPolicy(options);
  // A split that is not used need not be complete.
  const OnShardSetFaults ignore = [](const ShardSetFaults&) {};
  const Mode mode = options.mode;
  const bool evaluates = mode == Mode::kEval || mode == Mode::kTrainAndEval;
  const TrainParams& params = options.params.values;
  const bool is_open =
      !params.input.label_offset || params.input.num_label_classes == 0;
  DataSet data(
      options.data_dir,
      {.eval_split = params.eval_split,
       .counts_labels = is_open,
       .label_offset = params.input.label_offset,
       .keys = {params.input.image_key, params.input.label_key},
       .selection = Trains(mode) ? params.selection : SelectionChoice{},
       .on_train_faults = Trains(mode) ? policy : ignore,
       .on_eval_faults = evaluates ? policy : ignore});
  if (mode == Mode::kTrainAndEval && data.train() && data.eval()) {
    RequireOneNumbering(std::array{&data.train()->index, &data.eval()->index});
  }
  // A model in use has its label_offset of other data (MatchToModel()).
  const std::optional<DataSplit>& split =
      data.train() ? data.train() : data.eval();
  if (split && (Trains(mode) || params.input.num_label_classes == 0)) {
    RequireLabelOffset(params.input, split->index);
  }
  CheckRunOutputs(options, data);
  return data;
}

ModelLabels DataLabels(const TrainParams& params, const DataSet& data) {
  return ModelLabels::OfData(data.classes(), params.input.num_label_classes,
                             LabelOffsetOf(params));
}

void RequireSplits(const RunOptions& options, const DataSet& data) {
  if (Trains(options.mode) && !data.has_train()) {
    throw UsageError(
        "data_dir=" + options.data_dir +
        ": no data of the split train to train on; use --mode eval, or "
        "another data_dir");
  }
  const std::string& split = options.params.values.eval_split;
  const bool must_evaluate =
      options.mode == Mode::kEval ||
      (options.mode == Mode::kTrainAndEval && split != "auto");
  if (must_evaluate && !data.has_eval()) {
    throw UsageError("data_dir=" + options.data_dir + ": no " +
                     (split == "auto" ? "data of the splits validation or test"
                                      : "data of the split " + split) +
                     " to evaluate");
  }
}

void RequireUsedWeights(const RunOptions& options) {
  constexpr std::string_view kWeights = "resnet_checkpoint";
  const std::string& weights = options.params.values.resnet_checkpoint;
  if (!UsesTrainedModel(options.mode) || weights.empty() ||
      !IsOnCommandLine(options.params, kWeights)) {
    return;
  }
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        fmt::format("{}={}: {}", kWeights, WithoutUrlSecrets(weights), why));
  };
  if (options.mode == Mode::kReplay) {
    refuse(
        "not used, as mode replay has the checkpoints of model_dir; leave it "
        "out");
  }
  if (!IsOfModelDir(options.resume) && options.resume != "never") {
    refuse("not used, as --resume gives a checkpoint; give one of them");
  }
  if (options.eval_timeout) {
    refuse(
        "not used, as --eval_timeout evaluates the checkpoints of "
        "model_dir; give one of them");
  }
  if (const std::vector<std::int64_t> steps =
          ListCheckpoints(options.model_dir);
      !steps.empty()) {
    refuse(fmt::format(
        "not used, as model_dir={} has a checkpoint of step {}; give another "
        "model_dir, or leave {} out",
        options.model_dir, steps.back(), kWeights));
  }
}

void RequireModel(const RunOptions& options) {
  RequireUsedWeights(options);
  // model_dir needs no checkpoint if --resume has a path or resnet_checkpoint
  // gives weights. A run that follows a training run has already waited for
  // one.
  const bool takes_its_checkpoint =
      UsesTrainedModel(options.mode) && IsOfModelDir(options.resume) &&
      options.params.values.resnet_checkpoint.empty();
  if (takes_its_checkpoint && !HasParamFile(ParamsPath(options.model_dir)) &&
      ListCheckpoints(options.model_dir).empty()) {
    throw UsageError(fmt::format(
        "model_dir={}: no such model folder: there is no params.yaml and no "
        "checkpoint; train a model into it first, or give another model_dir",
        options.model_dir));
  }
}

void TakeGivenPolicy(const RunParams& resolved, InputOptions& input) {
  const InputOptions& given = resolved.values.input;
  if (IsOnCommandLine(resolved, "on_bad_record")) {
    input.on_bad_record = given.on_bad_record;
  }
  if (IsOnCommandLine(resolved, "max_bad_records")) {
    input.max_bad_records = given.max_bad_records;
  }
}

void SayChangedShards(const Job& job, const std::optional<DataSplit>& split) {
  const std::vector<std::string> changed = split && job.ranks.place().is_first()
                                               ? FindChangedShards(split->index)
                                               : std::vector<std::string>();
  if (!changed.empty()) {
    Say(fmt::format(
        "{}: {} of {} changed since the run began, such as {}: records may be "
        "bad or others from there on; put the files back, or start again",
        split->name, CountText(changed.size(), "shard"),
        split->index.shards().size(), PathForMessages(changed.front())));
  }
}

InputOptions EvalInput(const Job& job) {
  InputOptions input = PartOf(EvalInputOf(job.params), job.options.place);
  input.trace = job.options.trace;
  input.on_note = SayNote;
  return input;
}

namespace {

// The differences by which the checkpoint belongs to another run, or, in a run
// that does not train, to another network.
std::string DifferenceOf(const Job& job, const Checkpoint& checkpoint) {
  if (!Trains(job.options.mode)) {
    return DescribeDifferences(MakeNetworkIdentity(job.params),
                               checkpoint.identity);
  }
  const std::string difference = DescribeDifferences(
      MakeIdentity(job.params, job.data, job.options.place.world_size),
      checkpoint.identity);
  if (!difference.empty() || job.options.mode == Mode::kTrain) {
    return difference;
  }
  return DescribeOtherValidation(
      MakeValidation(job.params, job.data, job.options.device),
      checkpoint.validation);
}

// A hint about a better checkpoint, for modes that use the newest one.
std::string BetterText(const RunOptions& options, std::int64_t step) {
  const std::optional<std::int64_t> best = RecordedBestStep(options.model_dir);
  return !Trains(options.mode) && options.resume == "auto" && best &&
                 *best != step
             ? fmt::format("; the best one is of step {}: --checkpoint best",
                           *best)
             : "";
}

constexpr std::string_view kAllDamaged = "damaged";

// A user who was told to move all away would move the good ones, too.
std::string DamagedText(const RunOptions& options) {
  const std::string& folder = options.model_dir;
  if (!MayGoBack(options.resume)) {
    return folder +
           ": all checkpoints in it are damaged; move them away to start anew";
  }
  const std::optional<std::int64_t> best =
      options.resume == "best" ? RecordedBestStep(folder) : std::nullopt;
  return fmt::format(
      "{}: the checkpoint of step {} is damaged; the others may be good: "
      "choose another step, or leave out the choice to use the newest good one",
      folder, best ? std::to_string(*best) : options.resume);
}

// difference: by which --force was needed. Takes the checkpoint's state.
void LoadState(const Job& job, Checkpoint& checkpoint,
               const std::string& difference) {
  try {
    if (Trains(job.options.mode)) {
      job.device.Load(checkpoint.state);
    } else {
      job.device.LoadForUse(std::move(checkpoint.state));
    }
  } catch (const DataError& error) {
    if (difference.empty()) {
      throw;
    }
    throw UsageError(fmt::format(
        "model_dir={}: the checkpoint of step {} cannot be used, even with "
        "--force: {}; {}: give the values of the checkpoint, or train on from "
        "its weights (resnet_checkpoint) in another model_dir",
        job.options.model_dir, checkpoint.step, difference, error.what()));
  }
}

// Restore() on rank 0. Returns a text for all ranks: "" for no checkpoint,
// kAllDamaged, or the step, the stream's position and its fingerprint.
std::string ReadCheckpoint(const Job& job, std::optional<RunStart>& start) {
  std::vector<std::string> damaged;
  std::optional<Checkpoint> checkpoint =
      FindResume(job.options.model_dir, job.options.resume,
                 Trains(job.options.mode), damaged);
  for (const std::string& message : damaged) {
    Say("damaged checkpoint, not used: " + message);
  }
  if (!checkpoint) {
    return std::string(damaged.empty() ? "" : kAllDamaged);
  }
  if (Trains(job.options.mode) && MayGoBack(job.options.resume) &&
      !job.options.force) {
    RequireNewest(job.options.model_dir, checkpoint->step);
  }
  const std::string difference = RequireOwnCheckpoint(job, *checkpoint);
  LoadState(job, *checkpoint, difference);
  Say(fmt::format("{} the checkpoint at step {}{}",
                  Trains(job.options.mode) ? "resuming from" : "using",
                  checkpoint->step, BetterText(job.options, checkpoint->step)));
  const bool is_own = IsOfModelDir(job.options.resume);
  start =
      RunStart{.step = checkpoint->step,
               .stream = checkpoint->stream,
               .fingerprint = checkpoint->fingerprint,
               .validation = checkpoint->validation,
               .weights = is_own ? "" : job.options.resume,
               .network = difference,
               .labels = is_own ? ModelLabels::OfModel(job.options.model_dir)
                                : ModelLabels::OfWeights(job.options.resume)};
  return BuildRunState({.step = checkpoint->step,
                        .stream = checkpoint->stream,
                        .fingerprint = checkpoint->fingerprint,
                        .identity = {},
                        .state = {}});
}

// For a model that is trained further, the classifier gets the classes of its
// data. Sets `labels` to the names of the weights' classes.
WarmStarted ReadWeights(const Job& job, ModelLabels& labels) {
  std::string path = job.params.resnet_checkpoint;
  if (path.empty()) {
    return {};
  }
  const ModelOptions model = MakeModelOptions(job.params);
  RequireDepthOfName(path, model);
  path = LocalWeights(job.options, path, "resnet_checkpoint");
  TensorMap weights = job.device.Save().model;
  labels = ModelLabels::OfWeights(path);
  const bool compares = Trains(job.options.mode) && !job.options.force;
  WarmStarted started = WarmStart(
      path, model, weights,
      compares ? DataLabels(job).names() : std::vector<std::string>());
  Say(started.text);
  job.device.LoadWeights(weights);
  return started;
}

// For a model that is used without training: an untrained classifier would be
// useless, so the weights must include it.
ModelLabels ReadTrainedWeights(const Job& job, std::string_view purpose) {
  ModelLabels labels;
  const WarmStarted started = ReadWeights(job, labels);
  if (!started.head_left.empty()) {
    throw UsageError(fmt::format(
        "resnet_checkpoint={}: nothing to {}: {}; train the model first, or "
        "give the parameters of those weights (num_label_classes)",
        job.params.resnet_checkpoint, purpose, started.head_left));
  }
  return labels;
}

// An average cannot begin or end in the middle of a training.
void RequireSameAverage(const Job& job, const Checkpoint& checkpoint) {
  const bool has_average =
      std::ranges::any_of(checkpoint.state.optimizer, [](const auto& tensor) {
        return tensor.first.ends_with(kAverageSuffix);
      });
  const double decay = job.params.optimizer.moving_average_decay;
  if (has_average != (decay > 0)) {
    throw UsageError(fmt::format(
        "moving_average_decay={}: the checkpoint of step {} has {} moving "
        "average: give the value that it was trained with, or train on from "
        "its weights (resnet_checkpoint) in another model_dir",
        decay, checkpoint.step, has_average ? "a" : "no"));
  }
}

// The optimizer has state only for weights that change.
void RequireSameFrozenStages(const Job& job, const Checkpoint& checkpoint) {
  const ModelOptions model = MakeModelOptions(job.params);
  const std::optional<int> frozen = FrozenStagesOf(checkpoint, model);
  if (frozen && *frozen != model.frozen_stages) {
    throw UsageError(fmt::format(
        "frozen_stages={}: the checkpoint of step {} was trained with {}: give "
        "that, or train on from its weights (resnet_checkpoint) in another "
        "model_dir",
        model.frozen_stages, checkpoint.step, *frozen));
  }
}

}  // namespace

std::string RequireOwnCheckpoint(const Job& job, const Checkpoint& checkpoint) {
  RequireSameAverage(job, checkpoint);
  const std::string difference = DifferenceOf(job, checkpoint);
  const bool trains = Trains(job.options.mode);
  if (!difference.empty() && !job.options.force) {
    throw UsageError("model_dir=" + job.options.model_dir +
                     ": its checkpoint belongs to another run: " + difference +
                     "; give another model_dir, or --force to " +
                     (trains ? "resume from it" : "use it"));
  }
  RequireSameFrozenStages(job, checkpoint);
  if (!difference.empty()) {
    Say(fmt::format("{} despite a difference (--force): {}",
                    trains ? "resuming" : "using the checkpoint", difference));
  }
  return difference;
}

std::optional<RunStart> Restore(const Job& job) {
  std::optional<RunStart> start;
  const std::string text = job.ranks.Broadcast(
      job.ranks.place().is_first() ? ReadCheckpoint(job, start) : "");
  if (text == kAllDamaged) {
    throw UnusableCheckpoints(DamagedText(job.options));
  }
  if (text.empty()) {
    return std::nullopt;
  }
  job.device.Broadcast();
  if (!start) {
    const Checkpoint of_first = ParseRunState(text);
    start = RunStart{.step = of_first.step,
                     .stream = of_first.stream,
                     .fingerprint = of_first.fingerprint};
  }
  return start;
}

void StartFromWeights(const Job& job) {
  if (job.ranks.place().is_first()) {
    ModelLabels labels;
    (void)ReadWeights(job, labels);
  }
  job.device.Broadcast();
}

RunStart LoadTrained(const Job& job, std::string_view purpose) {
  if (std::optional<RunStart> from = Restore(job)) {
    return *std::move(from);
  }
  if (job.params.resnet_checkpoint.empty()) {
    throw UsageError(
        fmt::format("model_dir={}: no checkpoint to {}; train one first, or "
                    "give weights as resnet_checkpoint",
                    job.options.model_dir, purpose));
  }
  RunStart start = {.weights = job.params.resnet_checkpoint};
  if (job.ranks.place().is_first()) {
    start.labels = ReadTrainedWeights(job, purpose);
  }
  job.device.Broadcast();
  return start;
}

EvalSteps EvalStepsOf(const Job& job, std::int64_t first_step) {
  return {.first_step = first_step,
          .last_step = job.params.train_steps,
          .interval = job.params.steps_per_eval,
          .epochs = EpochsOf(job.params, job.options.place.world_size)};
}

}  // namespace infeed
