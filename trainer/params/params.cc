#include "trainer/params/params.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/own_files.h"
#include "base/shown_text.h"
#include "pipeline/options/option_text.h"
#include "trainer/model/named_networks.h"
#include "trainer/params/parse.h"
#include "trainer/params/presets.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

constexpr std::string_view kModelParam = "model";
constexpr int kDefaultEpochs = 90;
constexpr std::string_view kFromOverride = "--params_override";
constexpr std::string_view kFromFlag = "flag";

[[noreturn]] void ThrowUnknown(const std::string& as_given,
                               const OptionAssignment& given) {
  const std::string_view nearest = NearestParamName(given.name);
  throw UsageError(fmt::format(
      "unknown parameter '{}'{}{}", as_given,
      nearest.empty() ? " (--help_all lists them)"
                      : fmt::format(": did you mean '{}'?", nearest),
      given.place));
}

// Sets one value, and its origin. A network's name as the model sets others,
// too.
void Set(const Param& param, const OptionAssignment& given,
         std::string_view origin, RunParams& run) {
  const TrainParams before = run.values;
  SetParam(param, given, run.values);
  run.origins[std::string(param.name)] = origin;
  if (param.name != kModelParam) {
    return;
  }
  for (const Param& other : ParamTable()) {
    if (other.name != kModelParam &&
        ValueText(other, before) != ValueText(other, run.values)) {
      run.origins[std::string(other.name)] =
          fmt::format("{}={}", kModelParam, given.value);
    }
  }
}

// Applies one layer over the lower ones, the model before its parameters.
void Apply(std::vector<OptionAssignment> layer, std::string_view origin,
           RunParams& run) {
  bool steps = false;
  bool epochs = false;
  std::stable_partition(
      layer.begin(), layer.end(),
      [](const OptionAssignment& given) { return given.name == kModelParam; });
  for (OptionAssignment given : layer) {
    const std::string as_given = given.name;
    // Hyphens are underscores, and so are the dots of {train: {steps: 5}}.
    std::ranges::replace(given.name, '-', '_');
    std::ranges::replace(given.name, '.', '_');
    if (const UnsupportedParam* other = FindUnsupportedParam(given.name)) {
      run.notes.erase(given.name);
      if (const auto note = NoteOnUnsupported(*other, given)) {
        run.notes[given.name] = *note;
      }
      continue;
    }
    const Param* const param = FindParam(given.name);
    if (param == nullptr) {
      ThrowUnknown(as_given, given);
    }
    Set(*param, given, origin, run);
    steps = steps || param->name == "train_steps";
    epochs = epochs || param->name == "train_epochs";
  }
  if (steps && epochs) {
    throw UsageError(fmt::format(
        "train_steps={} and train_epochs={} are both given: give one of them",
        run.values.train_steps, run.values.train_epochs));
  }
  if (steps) {
    run.values.train_epochs = 0;
  } else if (epochs) {
    run.values.train_steps = 0;
  }
}

// Sets one of the run's values unless it is given.
template <typename Value>
void FillIn(Value& value, Value found, RunParams& run,
            std::string_view origin = kFromData) {
  if (value == 0) {
    value = found;
    run.origins[std::string(NameOf(run.values, &value))] = origin;
  }
}

// The default batch size for this device, or all images if there are fewer.
int DefaultBatch(const DataFacts& facts, std::int64_t images) {
  const std::int64_t batch = facts.on_gpu ? 1024 : 64;
  return static_cast<int>(images > 0 ? std::min(batch, images) : batch);
}

// Throws, with values that would work, unless an epoch has a batch's images and
// the ranks can share them evenly.
void CheckBatch(const DataFacts& facts, const TrainParams& values) {
  const int& batch = values.input.batch_size;
  const auto refuse = [&](std::string_view why) {
    throw UsageError(
        fmt::format("{}={}: {}", NameOf(values, &batch), batch, why));
  };
  if (facts.train_images > 0 && batch > facts.train_images) {
    refuse(fmt::format("the data has only {} training images",
                       facts.train_images));
  }
  if (facts.train_images > 0 && batch > values.num_train_images) {
    refuse(fmt::format("more than an epoch, num_train_images={}",
                       values.num_train_images));
  }
  const int less = batch - batch % facts.ranks;
  if (less != batch) {
    refuse(fmt::format(
        "{} ranks cannot share it equally; give {}{}", facts.ranks,
        less == 0 ? "" : fmt::format("{} or ", less), less + facts.ranks));
  }
}

void ResolveBatches(const DataFacts& facts, RunParams& run) {
  TrainParams& values = run.values;
  const std::int64_t images = facts.train_images;
  FillIn(values.num_train_images, images, run);
  FillIn(values.input.batch_size, DefaultBatch(facts, images), run);
  CheckBatch(facts, values);
  FillIn(values.num_eval_images, facts.eval_images, run);
  values.num_eval_images = std::min(values.num_eval_images, facts.eval_images);
  FillIn(values.eval_batch_size, DefaultBatch(facts, values.num_eval_images),
         run);
  if (values.num_eval_images > 0) {
    values.eval_batch_size = static_cast<int>(
        std::min<std::int64_t>(values.eval_batch_size, values.num_eval_images));
  }
}

// Images, and empty slots, in the steps of an epoch.
std::int64_t ImagesInSteps(const EpochBatches& epochs) {
  return epochs.carries ? epochs.samples : epochs.most() * epochs.batch_size;
}

void ResolveSteps(int ranks, RunParams& run) {
  TrainParams& values = run.values;
  const EpochBatches epochs = EpochsOf(values, ranks);
  if (values.train_epochs > 0) {
    // From here on train_steps is the length of the run.
    values.train_steps = epochs.WithinPart(values.train_epochs);
    run.asked_epochs = values.train_epochs;
    run.origins["train_steps"] =
        fmt::format("train_epochs={}, {}", values.train_epochs,
                    run.origins["train_epochs"]);
    values.train_epochs = 0;
    run.origins.erase("train_epochs");
  }
  if (values.train_steps == 0) {
    run.asked_epochs = kDefaultEpochs;
  }
  FillIn(values.train_steps, epochs.Within(kDefaultEpochs), run);
  LearningRateOptions& rate = values.optimizer.learning_rate;
  rate.train_images = rate.schedule == RateSchedule::kReference
                          ? values.num_train_images
                          : ImagesInSteps(epochs);
  FillIn(values.iterations_per_loop,
         std::min<std::int64_t>(epochs.most(), 1251), run);
  if (epochs.Within(1) == epochs.most()) {  // Else epochs differ in steps.
    FillIn(values.steps_per_eval, epochs.Within(1), run);
  }
  FillIn(values.steps_per_checkpoint,
         std::max<std::int64_t>(5000, values.iterations_per_loop), run);
}

void ApplyPreset(const Preset& preset, const std::string& origin,
                 RunParams& run) {
  if (!preset.base.empty()) {
    ApplyPreset(FindPreset(preset.base), origin, run);
  }
  Apply(ParseOverride(preset.values), origin, run);
}

std::string ShownValue(const Param& param, const TrainParams& values) {
  return WithoutUrlSecrets(ValueText(param, values));
}

// The reference's ImageNet.
constexpr std::int64_t kFakeTrainImages = 1281167;
constexpr int kFakeClasses = 1000;
constexpr int kFakeEvalSteps = 10;
constexpr std::string_view kFromFakeData = "fake data";

}  // namespace

void ResolveFakeData(bool on_gpu, int ranks, RunParams& params) {
  TrainParams& values = params.values;
  FillIn(values.input.num_label_classes, kFakeClasses, params, kFromFakeData);
  FillIn(values.num_train_images, kFakeTrainImages, params, kFromFakeData);
  ResolveDefaults({.on_gpu = on_gpu, .ranks = ranks}, params);
  values.num_eval_images =
      std::int64_t{kFakeEvalSteps} * values.eval_batch_size;
  params.origins["num_eval_images"] = kFromFakeData;
}

LearningRateOptions RateOf(const TrainParams& params) {
  LearningRateOptions rate = params.optimizer.learning_rate;
  rate.lars = params.optimizer_kind() == OptimizerKind::kLars;
  rate.batch_size = params.input.batch_size;
  rate.train_steps = params.train_steps;
  return rate;
}

EpochBatches EpochsOf(const TrainParams& values, int ranks) {
  InputOptions input = values.input;
  input.world_size = ranks;
  EpochBatches epochs = EpochBatchesOf(values.num_train_images, input);
  epochs.samples = std::max(epochs.samples, epochs.batch_size);
  return epochs;
}

std::string MissedEpochsText(const RunParams& params) {
  constexpr double kNotable = 0.01;
  const TrainParams& values = params.values;
  const auto images = static_cast<double>(values.num_train_images);
  const int batch = values.input.batch_size;
  const double epochs =
      static_cast<double>(values.train_steps) * batch / images;
  if (epochs >= params.asked_epochs * (1 - kNotable)) {
    return "";
  }
  const std::int64_t rest = values.num_train_images % batch;
  return fmt::format(
      "{} steps of {} images are {:.2f} of the {} epochs asked for{}",
      values.train_steps, batch, epochs, params.asked_epochs,
      values.input.last_batch == LastBatch::kCarry
          ? ": the last images do not fill a batch"
          : fmt::format(": {} of {} images are left out of each epoch; "
                        "last_batch=carry uses them",
                        rest, values.num_train_images));
}

Normalization NormalizationOf(const TrainParams& params) {
  return params.normalization == Normalization::kImagenet &&
                 params.model.channels == 1
             ? Normalization::kImagenetGray
             : params.normalization;
}

std::string ModelName(const TrainParams& params) {
  if (params.model.kind == ModelKind::kLeNet) {
    return "LeNet-5";
  }
  const std::string depth = std::to_string(params.model.depth);
  const NamedNetwork* const network = NetworkOf(params.model);
  return network == nullptr || network->name == "resnet" + depth
             ? "ResNet-" + depth
             : std::string(network->name);
}

bool IsOnCommandLine(const RunParams& params, std::string_view name) {
  const auto origin = params.origins.find(name);
  return origin != params.origins.end() &&
         (origin->second == kFromOverride || origin->second == kFromFlag);
}

RunParams ReadParams(const ParamLayers& layers) {
  RunParams run;
  if (!layers.model_file.empty()) {
    Apply(ReadParamFile(layers.model_file), kFromModel, run);
    // num_eval_images describes the training's data, not this run's.
    run.values.num_eval_images = 0;
    // The model may come from a stranger, who must not choose a file to write.
    run.values.input.bad_record_report.clear();
  }
  if (!layers.preset.empty()) {
    const Preset& preset = FindPreset(layers.preset);
    ApplyPreset(preset, fmt::format("preset {}", preset.name), run);
  }
  if (!layers.config_file.empty()) {
    Apply(ReadParamFile(layers.config_file, kNamedByUser), "config file", run);
  }
  std::vector<OptionAssignment> overrides;
  for (const std::string& text : layers.overrides) {
    const std::vector<OptionAssignment> parsed = ParseOverride(text);
    overrides.insert(overrides.end(), parsed.begin(), parsed.end());
  }
  Apply(overrides, kFromOverride, run);
  std::vector<OptionAssignment> flags;
  for (const auto& [name, value] : layers.flags) {
    flags.push_back({.name = name, .value = value, .place = ""});
  }
  Apply(flags, kFromFlag, run);
  CheckTogether(run.values);
  return run;
}

void ResolveDefaults(const DataFacts& facts, RunParams& params) {
  ResolveLabels(facts.labels, params);
  ResolveBatches(facts, params);
  ResolveSteps(facts.ranks, params);
  CheckTogether(params.values);
}

std::string ToYaml(const RunParams& params) {
  std::string text =
      "# The parameters of a run; a later run reads them with --config_file.\n";
  for (const Param& param : ParamTable()) {
    const auto origin = params.origins.find(param.name);
    if (!IsGiven(param, params.values)) {
      text += fmt::format("# {}: {}\n", param.name, param.when_not_given);
      continue;
    }
    text += fmt::format(
        "{}: {}  # {}\n", param.name, ShownValue(param, params.values),
        origin == params.origins.end() ? "default" : origin->second);
  }
  return text;
}

std::string ChosenText(const RunParams& params) {
  std::string text;
  for (const Param& param : ParamTable()) {
    const auto origin = params.origins.find(param.name);
    if (origin != params.origins.end() && IsGiven(param, params.values)) {
      text += fmt::format("  {}: {}  # {}\n", param.name,
                          ShownValue(param, params.values), origin->second);
    }
  }
  return text;
}

}  // namespace infeed
