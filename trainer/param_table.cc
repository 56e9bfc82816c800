#include "trainer/param_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace infeed {
namespace {

constexpr double kMaxSteps = 1e12;
constexpr double kMaxImages = 0x1p32 - 1;  // what a sample order holds

constexpr ParamRange Between(double min, double max) {
  return {.min = min, .max = max, .choices = {}};
}
constexpr ParamRange BelowOne() {
  return {.min = 0, .max = 1, .max_is_open = true, .choices = {}};
}
constexpr ParamRange Positive() {
  return {.min = 0, .min_is_open = true, .choices = {}};
}
constexpr ParamRange NotNegative() { return {.min = 0, .choices = {}}; }
constexpr ParamRange OneOf(std::string_view choices) {
  return {.choices = choices};
}
constexpr ParamRange Any() { return {.choices = {}}; }

using P = TrainParams;

// In the order of --help and of params.yaml.
const Param kTable[] = {
    {"resnet_depth", &P::resnet_depth, OneOf("18|34|50|101|152"), "layers",
     "Which ResNet.", ""},
    {"num_label_classes", &P::num_label_classes, Between(0, 100'000), "classes",
     "Outputs of the model.", "as many as the data has"},
    {"precision", &P::precision, OneOf("auto|bfloat16|float32"), "",
     "Of the model's arithmetic; auto is bfloat16 where the processor is "
     "faster with it.",
     ""},

    {"num_train_images", &P::num_train_images, Between(0, kMaxImages), "images",
     "What an epoch is, for steps and learning rate.",
     "as many as the data has"},
    {"num_eval_images", &P::num_eval_images, Between(0, kMaxImages), "images",
     "How many of the evaluation's images are used.",
     "as many as the data has"},
    {"train_batch_size", &P::train_batch_size, Between(0, 1 << 20), "images",
     "Global batch of training.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"eval_batch_size", &P::eval_batch_size, Between(0, 1 << 20), "images",
     "Batch of evaluation; a larger one than the set is the whole set.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"image_size", &P::image_size, Between(8, 4096), "pixels",
     "Side of the model's input.", ""},
    {"recipe", &P::recipe, OneOf("tpu|torchvision|plain|cifar"), "",
     "How images become input: the reference's random crop and flip, "
     "torchvision's, the whole image resized, or CIFAR's shifts.",
     ""},
    {"interpolation", &P::interpolation,
     OneOf("recipe|bicubic|bilinear|antialias"), "",
     "How windows are resized: as the recipe does, or otherwise.", ""},
    {"scaled_decode", &P::scaled_decode, Any(), "",
     "Decode a training JPEG to 1/2, 1/4 or 1/8 of its size where its crop is "
     "that much larger than image_size: faster, other pixels.",
     ""},
    {"augment_name", &P::augment_name, OneOf("none|autoaugment|randaugment"),
     "", "What is done to training images beside crop and flip.", ""},
    {"randaug_num_layers", &P::randaug_num_layers, Between(1, 16), "operations",
     "How many randaugment applies to an image.", ""},
    {"randaug_magnitude", &P::randaug_magnitude, Between(0, 30), "",
     "How strong randaugment's operations are.", ""},
    {"random_erasing", &P::random_erasing, Between(0, 1), "",
     "Probability that a rectangle of a training image is erased.", ""},
    {"shuffle", &P::shuffle, OneOf("global|window|reference|none"), "",
     "Order of the training images: a permutation of all, of neighbours in "
     "interleaved shards, as the reference shuffles, or their own.",
     ""},
    {"window_shards", &P::window_shards, Between(1, 1 << 24), "shards",
     "How many shuffle=window interleaves at once.", ""},
    {"window_records", &P::window_records, Between(1, 1 << 24), "records",
     "How many it shuffles among each other.", ""},
    {"seed", &P::seed, Between(0, 0x1p64), "",
     "Of order, crops, flips and initial weights.", ""},
    {"on_bad_record", &P::on_bad_record, OneOf("fail|replace|skip"), "",
     "What becomes of a training record that cannot be read: end the run, "
     "take another in its place, leave its place empty.",
     ""},
    {"max_bad_records", &P::max_bad_records, Between(-1, kMaxImages), "records",
     "End the run after so many different bad ones; -1: never.", ""},
    {"max_bad_rate", &P::max_bad_rate, Between(0, 1), "",
     "End the run when more than this share of the samples is bad.", ""},
    {"bad_record_report", &P::bad_record_report, Any(), "",
     "File that lists every bad record, one JSON object a line.", "no file"},
    {"lenient", &P::lenient, Any(), "",
     "Use JPEGs that libjpeg only warns about, and count them.", ""},

    {"graph", &P::graph, OneOf("flow|basic"), "",
     "How the input works: overlapped in all threads, or one record after the "
     "other, to see what a slow input does.",
     ""},
    {"num_parallel_calls", &P::num_parallel_calls, Between(0, 4096), "threads",
     "Of the input.", "one for each core"},
    {"batches_in_pool", &P::batches_in_pool, Between(kLeastBatches, 1024),
     "batches", "That are filled, waiting or in use at once.", ""},
    {"prefetch_batches", &P::prefetch_batches, Between(0, 1024), "batches",
     "Ahead of those, whose records are asked for.", ""},
    {"autotune", &P::autotune, Any(), "",
     "Find the three above by trying, for three seconds at the start.", ""},
    {"use_cache", &P::use_cache, Any(), "",
     "Keep encoded records in memory, as far as memory_limit allows.", ""},
    {"memory_limit", &P::memory_limit, Between(0x1p20, 0x1p44), "bytes",
     "What the input may take; checked at start. Also as 4GiB, or as 50% of "
     "the machine's or the control group's memory.",
     ""},

    {"train_steps", &P::train_steps, Between(1, kMaxSteps), "steps",
     "Length of the whole training, earlier runs included.", "90 epochs"},
    {"train_epochs", &P::train_epochs, Between(0, 1e9), "epochs",
     "The same in epochs; give one of the two.", "train_steps counts"},
    {"iterations_per_loop", &P::iterations_per_loop, Between(1, kMaxSteps),
     "steps", "What the device runs before the host is asked again.",
     "one epoch, at most 1251"},
    {"steps_per_eval", &P::steps_per_eval, Between(1, kMaxSteps), "steps",
     "Between evaluations.", "one epoch"},
    {"steps_per_checkpoint", &P::steps_per_checkpoint, Between(1, kMaxSteps),
     "steps",
     "Between checkpoints; one is written at the first end of a loop after "
     "them.",
     "5000, at least iterations_per_loop"},
    {"keep_last", &P::keep_last, Between(1, 1'000'000), "checkpoints",
     "How many are kept; older ones are deleted.", ""},
    {"log_step_count_steps", &P::log_step_count_steps, Between(1, kMaxSteps),
     "steps", "Between lines in metrics.jsonl and the event file.", ""},
    {"stop_at_top_1", &P::stop_at_top_1, Between(0, 1), "",
     "An evaluation that reaches it ends the training; 0: none does.", ""},

    {"base_learning_rate", &P::base_learning_rate, Positive(), "",
     "Peak of the learning rate for a batch of 256.", ""},
    {"momentum", &P::momentum, BelowOne(), "", "Of the optimizer.", ""},
    {"use_nesterov", &P::use_nesterov, Any(), "",
     "Whether momentum is Nesterov's.", ""},
    {"weight_decay", &P::weight_decay, NotNegative(), "",
     "Factor of the L2 term of the loss.", ""},
    {"label_smoothing", &P::label_smoothing, BelowOne(), "",
     "Share of the target that goes to all classes alike.", ""},
};

const UnsupportedParam kUnsupported[] = {
    {"use_tpu", "true"},
    {"num_cores", "8"},
    {"enable_lars", "false"},
    {"transpose_input", "true"},
    {"use_async_checkpointing", "false"},
    {"poly_rate", "0.0"},
    {"skip_host_call", "false"},
    {"dropblock_groups", ""},
    {"dropblock_keep_prob", "null"},
    {"dropblock_size", "7"},
    {"pre_activation", "false"},
    {"norm_act_layer", "bn_relu"},
    {"data_format", "channels_last"},
    {"use_resnetd_stem", "false"},
    {"resnetd_shortcut", "false"},
    {"replace_stem_max_pool", "false"},
    {"se_ratio", "null"},
    {"drop_connect_rate", "null"},
    {"dropout_rate", "null"},
    {"moving_average_decay", "0"},
    {"bn_momentum", "0.9"},
};

// Levenshtein's distance, one row at a time.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const Param> ParamTable() { return kTable; }

std::span<const UnsupportedParam> UnsupportedParams() { return kUnsupported; }

const Param* FindParam(std::string_view name) {
  // The flag's name in older texts about the reference.
  const std::string_view known = name == "resnet_size" ? "resnet_depth" : name;
  const Param* const found = std::ranges::find(kTable, known, &Param::name);
  return found == std::end(kTable) ? nullptr : found;
}

const UnsupportedParam* FindUnsupportedParam(std::string_view name) {
  const UnsupportedParam* const found =
      std::ranges::find(kUnsupported, name, &UnsupportedParam::name);
  return found == std::end(kUnsupported) ? nullptr : found;
}

std::string_view NearestParamName(std::string_view name) {
  if (name.size() < 3 || name.size() > 64) {
    return "";  // Not a slip of the pen.
  }
  std::string_view nearest;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 3) + 1;
  const auto look_at = [&](std::string_view known) {
    // Part of a name is as good as a slip: "batch_size".
    const bool part = known.find(name) != std::string_view::npos;
    const std::size_t edits = part ? 2 : EditDistance(name, known);
    if (edits < fewest) {
      fewest = edits;
      nearest = known;
    }
  };
  for (const Param& param : kTable) {
    look_at(param.name);
  }
  for (const UnsupportedParam& param : kUnsupported) {
    look_at(param.name);
  }
  return nearest;
}

std::string_view TypeText(const Param& param) {
  if (std::holds_alternative<double P::*>(param.field)) {
    return "number";
  }
  if (std::holds_alternative<bool P::*>(param.field)) {
    return "true or false";
  }
  if (std::holds_alternative<std::string P::*>(param.field)) {
    return "text";
  }
  return "integer";
}

std::string ValueText(const Param& param, const TrainParams& params) {
  return std::visit(
      [&](auto field) {
        if constexpr (std::is_same_v<decltype(field), std::int64_t P::*>) {
          if (param.unit == "bytes") {
            return BytesText(params.*field);
          }
        }
        return fmt::format("{}", params.*field);
      },
      param.field);
}

std::string BytesText(std::int64_t bytes) {
  for (const auto& [shift, suffix] :
       {std::pair(40, "TiB"), std::pair(30, "GiB"), std::pair(20, "MiB")}) {
    if (bytes % (std::int64_t{1} << shift) == 0) {
      return fmt::format("{}{}", bytes >> shift, suffix);
    }
  }
  return std::to_string(bytes);
}

bool IsGiven(const Param& param, const TrainParams& params) {
  const std::string text = ValueText(param, params);
  return param.when_not_given.empty() || (text != "0" && !text.empty());
}

}  // namespace infeed
