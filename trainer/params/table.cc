#include "trainer/params/table.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/options/input_table.h"
#include "records/bytes/nearest_name.h"
#include "records/files/split_names.h"
#include "trainer/params/table_rows.h"
#include "trainer/results/eval_result.h"

namespace infeed {
namespace {

using P = TrainParams;
using O = OptimizerOptions;
using S = SelectionChoice;

constexpr std::string_view kEvalSplit = "eval_split";
constexpr double kMaxSteps = 1e12;
constexpr double kMaxImages = 0x1p32 - 1;  // what a sample order holds

const Param kDataParams[] = {
    Row("num_train_images", Field<&P::num_train_images>(),
        Between(0, kMaxImages), "images",
        "Images of an epoch, from which steps and learning rates are "
        "computed.",
        "as many as the data has"),
    Row("num_eval_images", Field<&P::num_eval_images>(), Between(0, kMaxImages),
        "images",
        "Images to evaluate; fewer than the data has are a sample that is "
        "spread evenly over it, the same in each evaluation.",
        "as many as the data has"),
    Row(kEvalSplit, Field<&P::eval_split>("auto|train|validation|test"), Any(),
        "",
        "Split to evaluate; auto: validation where there is one, else test."),
    Row("allow_missing_shards", Field<&P::allow_missing_shards>(), Any(), "",
        "Continue if files of the data set (shards, tars, zips) are missing, "
        "and print how many images are missing; otherwise missing files end "
        "the run."),
    Input("batch_size",
          {.name = "train_batch_size",
           .range = Between(0, 1 << 20),
           .help = "Training images per step, of all ranks together.",
           .when_not_given =
               "64 on a CPU, 1024 on a GPU, never more than the data"}),
    Row("eval_batch_size", Field<&P::eval_batch_size>(), Between(0, 1 << 20),
        "images",
        "Evaluation images per step; a batch larger than the split becomes the "
        "whole split.",
        "64 on a CPU, 1024 on a GPU, never more than the data"),
    Row("subset", Field<&P::selection, &S::subset>(), Any(), "file",
        "Train on the records whose numbers this file has, from 0: a number or "
        "a range such as 100-199 per line.",
        "all records")
        .OfBatches(),
    Row("classes", Field<&P::selection, &S::classes>(), Any(), "",
        "Train on the records of these classes: names, or labels as stored in "
        "records, as 'cat,dog'.",
        "all classes")
        .OfBatches(),
    Row("class_weights", Field<&P::selection, &S::class_weights>(), Any(),
        "file",
        "File with a class and its weight, its share of an epoch, per line; or "
        "balanced: the same share for every class.",
        "none")
        .OfBatches(),
    Row("sample_weights", Field<&P::selection, &S::sample_weights>(), Any(),
        "file",
        "File with a weight per line for every record: how often it is used.",
        "none")
        .OfBatches(),
    Row("mix", Field<&P::selection, &S::mix>(), Any(), "",
        "Train on several data sets, each with its share of an epoch, as "
        "'DIR=0.7,DIR2=0.3', in place of data_dir's training images.",
        "only data_dir")
        .OfBatches(),
    Input("last_batch",
          {.help = "Treatment of the images of an epoch that do not fill a "
                   "batch: drop them (auto), make a smaller batch (pad), fill "
                   "it up from the epoch's beginning (repeat), or from the "
                   "next epoch (carry)."}),
    Input("repeat_augment"),
    Input("image_key"),
    Input("label_key"),
    Input("image_size",
          {.range = Between(8, 4096),
           .help = "Size of the model's input: the side of a square, or height "
                   "x width, such as 224x320."}),
    Row("image_size_schedule", Field<&P::image_size_schedule>(), Any(), "",
        "Smaller training images at first: 'EPOCH:SIZE,...', as '0:160,8:192' "
        "or '0:160x224'; evaluation uses image_size.",
        "image_size all the time")
        .OfBatches()
        .NotFor("model", "lenet"),
    Row("normalization", ChoiceField<kNormalizations, &P::normalization>(),
        Any(), "",
        "Scaling of pixels on the device: ImageNet's mean and standard "
        "deviation, or division by 255.")
        .OfNetwork()
        .OnDevice(),
    Input("recipe"),
    Input("interpolation"),
    Input("random_flip"),
    Input("random_flip_vertical"),
    Input("crop_scale"),
    Input("crop_scale_max"),
    Input("eval_resize"),
    Input("eval_crop"),
    Input("fit_fill"),
    Input("fit_margin"),
    Row("eval_crops", ChoiceField<kEvalCrops, &P::eval_crops>(), Any(), "",
        "Views of an image in an evaluation, whose logits are averaged: the "
        "centre (1), that and its mirror image (2), the centre and the corners "
        "(5), or these five and their mirror images (10)."),
    Input("augment", {.name = "augment_name"}),
    Input("augment_layers", {.name = "randaug_num_layers"}),
    Input("augment_magnitude", {.name = "randaug_magnitude"}),
    Input("augment_magnitude_std", {.name = "randaug_magnitude_std"}),
    Input("augment_interpolation"),
    Input("brightness"),
    Input("contrast"),
    Input("saturation"),
    Input("hue"),
    Input("jitter_probability"),
    Input("grayscale"),
    Input("blur"),
    Input("solarize"),
    Input("random_erasing"),
    Input("erasing_mode"),
    Row("mixup_alpha", Field<&P::optimizer, &O::mixup_alpha>(), NotNegative(),
        "", "MixUp on the device: blend pairs of images; 0: none.")
        .OnDevice(),
    Row("cutmix_alpha", Field<&P::optimizer, &O::cutmix_alpha>(), NotNegative(),
        "",
        "CutMix on the device: take a rectangle from another image; 0: none. "
        "With mixup_alpha, each batch gets one of the two.")
        .OnDevice(),
    Input("shuffle"),
    Input("rank_share"),
    Input("seed", {.help = "Seed of order, crops, flips and initial weights."}),
    Input("on_bad_record").OfBatches(),
    Input("max_bad_records", {.range = Between(-1, kMaxImages)}),
    Input("bad_record_report"),
    Input("lenient").OfBatches(),
};

const Param kInputParams[] = {
    Input("graph"),
    Input("threads", {.name = "num_parallel_calls"}),
    Input("batches_in_pool", {.range = Between(kLeastBatches, 1024)}),
    Input("seek_index"),
    Input("use_cache"),
    Row("data_on_device", Field<&P::data_on_device>(), Any(), "",
        "Keep the training images in the device's memory, from records with "
        "packed pixels; a GPU then trains whole loops without the host."),
    Input("memory_limit", {.range = Between(0x1p20, 0x1p44)}),
    Input("workers"),
    Input("workers_in_flight"),
    Input("workers_check"),
    Input("input_hash"),
};

std::string_view KeepBestChoices() {
  static const std::string choices = "none|" + MetricNames();
  return choices;
}

const Param kRunLengthParams[] = {
    Row("train_steps", Field<&P::train_steps>(), Between(1, kMaxSteps), "steps",
        "Length of the whole training, including earlier runs.", "90 epochs"),
    Common(Row("train_epochs", Field<&P::train_epochs>(),
               {.min = 0, .max = 1e9, .min_is_open = true}, "epochs",
               "Length of the whole training; give this or train_steps.",
               "train_steps counts")),
    Row("iterations_per_loop", Field<&P::iterations_per_loop>(),
        Between(1, kMaxSteps), "steps",
        "Steps that the device runs without waiting for the host.",
        "one epoch, at most 1251"),
    Row("steps_per_eval", Field<&P::steps_per_eval>(), Between(1, kMaxSteps),
        "steps", "Steps between evaluations.", "one epoch"),
    Row("steps_per_checkpoint", Field<&P::steps_per_checkpoint>(),
        Between(1, kMaxSteps), "steps",
        "Steps between checkpoints; one is written at the end of the first "
        "loop after them.",
        "5000, at least iterations_per_loop"),
    Row("keep_last", Field<&P::keep_last>(), Between(1, 1'000'000),
        "checkpoints",
        "Newest checkpoints that are kept; older ones are deleted."),
    Row("keep_every", Field<&P::keep_every>(), Between(0, kMaxSteps), "steps",
        "Keep the checkpoints of all multiples of this step for good; 0: "
        "none."),
    Row("keep_best", Field<&P::keep_best>(KeepBestChoices()), Any(), "",
        "Keep the checkpoint with the best evaluation by this metric."),
    Row("use_async_checkpointing", Field<&P::use_async_checkpointing>(), Any(),
        "", "Write checkpoints while the training continues."),
    Row("log_step_count_steps", Field<&P::log_step_count_steps>(),
        Between(1, kMaxSteps), "steps",
        "Steps between lines in metrics.jsonl and the event file."),
    Row("skip_host_call", Field<&P::skip_host_call>(), Any(), "",
        "Write only loops, not steps, to metrics.jsonl and the event file."),
    Row("epoch_lines", Field<&P::epoch_lines>(), Any(), "",
        "Print a line of losses and accuracies after each epoch."),
    Row("profile_every_n_steps", Field<&P::profile_every_n_steps>(),
        Between(0, kMaxSteps), "steps", "Steps between profiles; 0: none."),
    Row("tpu_profile_duration", Field<&P::tpu_profile_duration>(),
        Between(1, 3'600'000), "ms", "Length of a profile."),
    Row("stop_at_top_1", Field<&P::stop_at_top_1>(), Between(0, 1), "",
        "End the training after an evaluation with at least this top-1 "
        "accuracy; 0: never."),
    Row("early_stop", Field<&P::early_stop>(), Any(), "",
        "End the training once a metric of the evaluations has not been better "
        "for a number of them: 'METRIC:EVALUATIONS', as 'top_1:5'.",
        "never"),
};

// The groups, in the order of --help and of params.yaml.
const ParamGroup kGroups[] = {
    {"Model", ModelParams()},
    {"Data and preprocessing", kDataParams},
    {"Input engine", kInputParams},
    {"Length, checkpoints and logs", kRunLengthParams},
    {"Learning", LearningParams()},
};

std::vector<Param> AllParams() {
  std::vector<Param> all;
  for (const ParamGroup& group : kGroups) {
    all.insert(all.end(), group.params.begin(), group.params.end());
  }
  return all;
}

std::vector<std::string_view> AllNames() {
  std::vector<std::string_view> names;
  for (const Param& param : ParamTable()) {
    names.push_back(param.name);
  }
  for (const UnsupportedParam& param : UnsupportedParams()) {
    names.push_back(param.name);
  }
  return names;
}

const void* FieldOf(const OptionRef& option) {
  return std::visit(
      [](const auto& field) -> const void* {
        if constexpr (std::is_pointer_v<std::decay_t<decltype(field)>>) {
          return field;
        } else {
          return field.field;
        }
      },
      option);
}

const UnsupportedParam kUnsupported[] = {
    {"use_tpu", "true", kTruth,
     "there is no TPU here, --device chooses the device"},
    {"num_cores", "8", "",
     "each process drives one device; --local_ranks or a launcher sets their "
     "number"},
    {"transpose_input", "true", kTruth,
     "the layout in memory is chosen here, the fastest for the device"},
    {"data_format", "channels_last", "channels_last|channels_first",
     "the layout in memory is chosen here, channels_last for every model"},
    {"device_resize", "false", kTruth, "workers resize all images"},
    {"autotune", "false", kTruth,
     "the defaults are as fast as what it found: a thread for each core"},
    {"norm_act_layer", "bn_relu", "bn_relu", "EvoNorm is not implemented"},
};

// Whether two texts mean the same null, truth value, number or text.
bool SameValue(std::string_view a, std::string_view b) {
  const std::optional<double> number = ParseNumber(b);
  if (number) {
    return ParseNumber(a) == number;
  }
  if (ParseTruth(b)) {
    return ParseTruth(a) == ParseTruth(b);
  }
  return IsNull(b) ? IsNull(a) || a.empty() : a == b;
}

// Whether a parameter without effect may have this value: see UnsupportedParam.
bool IsUnsupportedValue(std::string_view values, std::string_view text) {
  if (values == kTruth) {
    return ParseTruth(text).has_value();
  }
  const std::optional<ScalarInteger> count = ParseInteger(text);
  return values.empty() ? count && count->magnitude > 0 && !count->negative
                        : IsChoice(values, text);
}

}  // namespace

Param Input(std::string_view option, const Otherwise& other) {
  const InputOption& input = FindInputOption(option);
  const auto or_else = [](std::string_view text, std::string_view inputs) {
    return text.empty() ? inputs : text;
  };
  return {
      {.name = or_else(other.name, input.name),
       .choices = input.choices,
       .range = other.range.value_or(input.range),
       .unit = input.unit,
       .help = or_else(other.help, input.help),
       .when_not_given = or_else(other.when_not_given, input.when_not_given),
       .is_common = input.is_common},
      [at = input.at](P& params) { return at(params.input); },
      IdentityPart::kNone,
      {},
      input.affects_batches};
}

std::span<const ParamGroup> ParamGroups() { return kGroups; }

std::span<const Param> ParamTable() {
  static const std::vector<Param> all = AllParams();
  return all;
}

const Param* FindParam(std::string_view name) {
  const std::string_view known = name == kOldDepthName ? "resnet_depth" : name;
  const std::span<const Param> table = ParamTable();
  const auto found = std::ranges::find(table, known, &Param::name);
  return found == table.end() ? nullptr : &*found;
}

std::string_view NameOf(const TrainParams& params, const void* field) {
  const std::span<const Param> table = ParamTable();
  const auto found = std::ranges::find(table, field, [&](const Param& param) {
    return FieldOf(param.AtConst(params));
  });
  Check(found != table.end(), "the field is a parameter's");
  return found->name;
}

std::string_view NameOfInput(const InputOption& option) {
  TrainParams params;
  return NameOf(params, FieldOf(option.at(params.input)));
}

std::string_view NearestParamName(std::string_view name) {
  static const std::vector<std::string_view> names = AllNames();
  return NearestName(name, names);
}

const TrainParams& DefaultParams() {
  static const TrainParams defaults;
  return defaults;
}

void SetParam(const Param& param, const OptionAssignment& given,
              TrainParams& params) {
  if (IsNull(given.value)) {
    CopyOption(param.AtConst(DefaultParams()), param.at(params));
    return;
  }
  OptionAssignment named = given;
  const std::string_view split =
      param.name == kEvalSplit ? SplitNamed(given.value) : "";
  if (!split.empty()) {  // Folders of data have other names of it, too.
    named.value = split;
  }
  SetOption(param, named, param.at(params));
}

std::span<const UnsupportedParam> UnsupportedParams() { return kUnsupported; }

const UnsupportedParam* FindUnsupportedParam(std::string_view name) {
  const UnsupportedParam* const found =
      std::ranges::find(kUnsupported, name, &UnsupportedParam::name);
  return found == std::end(kUnsupported) ? nullptr : found;
}

std::optional<std::string> NoteOnUnsupported(const UnsupportedParam& param,
                                             const OptionAssignment& given) {
  if (IsNull(given.value) || SameValue(given.value, param.default_text)) {
    return std::nullopt;
  }
  if (!IsUnsupportedValue(param.values, given.value)) {
    throw UsageError(fmt::format(
        "{}='{}': must be {}{}", given.name, given.value,
        param.values.empty() ? "at least 1" : ChoicesText(param.values),
        given.place));
  }
  return fmt::format("{}={} has no effect: {}{}", given.name, given.value,
                     param.why, given.place);
}

}  // namespace infeed
