#include "trainer/params/table.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "pipeline/order/thread_limit.h"
#include "records/files/class_list.h"
#include "trainer/params/nearest_name.h"

namespace infeed {
namespace {

using P = TrainParams;

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

const Param kModelParams[] = {
    {"model", &P::model, OneOf("resnet|lenet"), "",
     "Network: a ResNet, or LeNet-5 for images of 28 pixels.", ""},
    {"resnet_depth", &P::resnet_depth,
     OneOf("18|34|50|101|152|200|270|350|420"), "layers",
     "Number of layers of the ResNet.", ""},
    {"model_variant", &P::model_variant, OneOf("torchvision|tpu|xla_jl"), "",
     "Geometry and tensor names of the ResNet: torchvision's, the reference "
     "driver's, or the XLA.jl article's.",
     ""},
    {"pre_activation", &P::pre_activation, Any(), "",
     "Put batch norm and ReLU before each convolution (ResNet v2).", ""},
    {"small_stem", &P::small_stem, Any(), "",
     "Begin with a 3x3 convolution and no pool, for images of 32 to 64 pixels.",
     ""},
    {"use_resnetd_stem", &P::use_resnetd_stem, Any(), "",
     "Begin with three 3x3 convolutions instead of one of 7x7 (ResNet-D).", ""},
    {"resnetd_shortcut", &P::resnetd_shortcut, Any(), "",
     "Average before the 1x1 convolution of a shortcut with stride 2 "
     "(ResNet-D).",
     ""},
    {"replace_stem_max_pool", &P::replace_stem_max_pool, Any(), "",
     "Use a 3x3 convolution with stride 2 instead of the first pool.", ""},
    {"zero_gamma", &P::zero_gamma, Any(), "",
     "Start each block as its shortcut alone: the scale of its last batch norm "
     "is 0.",
     ""},
    {"se_ratio", &P::se_ratio, Between(0, 1), "",
     "Squeeze-and-excitation ratio in bottleneck blocks; 0: none.", ""},
    {"drop_connect_rate", &P::drop_connect_rate, BelowOne(), "",
     "Probability that a sample skips the last bottleneck block's branch "
     "(stochastic depth); earlier blocks have proportionally less.",
     ""},
    {"dropout_rate", &P::dropout_rate, BelowOne(), "",
     "Dropout probability of the features before the classifier.", ""},
    {"dropblock_groups", &P::dropblock_groups, Any(), "",
     "Groups of blocks with DropBlock, as '3,4'.", "none"},
    {"dropblock_keep_prob", &P::dropblock_keep_prob, Between(0, 1), "",
     "Share that DropBlock keeps at the end of the training.",
     "needed with groups"},
    {"dropblock_size", &P::dropblock_size, Between(1, 4096), "pixels",
     "Side of the squares that DropBlock drops.", ""},
    {"bn_momentum", &P::bn_momentum, BelowOne(), "",
     "Batch-norm momentum: fraction of the running mean and variance kept per "
     "step (PyTorch's is 1 minus this).",
     ""},
    {"bn_epsilon", &P::bn_epsilon, Positive(), "",
     "Number that batch norm adds to the variance.", ""},
    {"fused_batch_norm", &P::fused_batch_norm, Any(), "",
     "Train with batch norm, sum and ReLU as one operation; on a GPU, kernels "
     "that go over the memory less often.",
     ""},
    {"batch_norm_group", &P::batch_norm_group, Between(0, 100'000), "ranks",
     "Consecutive ranks that share the statistics of their batch norms; 1: "
     "each its own, 0: all together.",
     ""},
    {"num_label_classes", &P::num_label_classes, Between(0, kMostClasses),
     "classes", "Number of classes: outputs of the model.",
     "as many as the data has"},
    {"label_offset", &P::label_offset, OneOf("auto|0|1"), "",
     "Label of the first class in the records; auto: what dataset.json says, "
     "else 0 where a label 0 occurs, else 1.",
     ""},
    {"precision", &P::precision, OneOf("auto|bfloat16|float32"), "",
     "Arithmetic of the model; auto: bfloat16 on a GPU, on a CPU the faster of "
     "both by a trial.",
     ""},
    {"cuda_graph", &P::cuda_graph, Any(), "",
     "Replay steps as CUDA graphs on a GPU; without, the same work is launched "
     "kernel by kernel.",
     ""},
    {"resnet_checkpoint", &P::resnet_checkpoint, Any(), "",
     "Start from these weights: a model_dir or a checkpoint of ours, "
     "safetensors or .pth of torchvision or timm, or a TensorFlow checkpoint.",
     "from random weights"},
    {"frozen_stages", &P::frozen_stages, Between(0, 5), "stages",
     "Number of the model's first stages whose weights stay as they are; 1 is "
     "the stem.",
     ""},
    {"freeze_batch_norm", &P::freeze_batch_norm, Any(), "",
     "Train with the running statistics of batch norm, and keep them.", ""},
};

const Param kDataParams[] = {
    {"num_train_images", &P::num_train_images, Between(0, kMaxImages), "images",
     "Images of an epoch, for steps and learning rate.",
     "as many as the data has"},
    {"num_eval_images", &P::num_eval_images, Between(0, kMaxImages), "images",
     "Images of the evaluation that are used.", "as many as the data has"},
    {"eval_split", &P::eval_split, OneOf("auto|train|validation|test"), "",
     "Split to evaluate; auto: validation where there is one, else test.", ""},
    {"allow_missing_shards", &P::allow_missing_shards, Any(), "",
     "Go on where shards of the data set are missing, and say how many images "
     "are not there; otherwise they end the run.",
     ""},
    {"train_batch_size", &P::train_batch_size, Between(0, 1 << 20), "images",
     "Training images per step, of all ranks together.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"eval_batch_size", &P::eval_batch_size, Between(0, 1 << 20), "images",
     "Evaluation images per step; a batch larger than the split becomes the "
     "whole split.",
     "64 on a CPU, 1024 on a GPU, never more than the data"},
    {"last_batch", &P::last_batch, OneOf("auto|drop|pad|repeat"), "",
     "Treatment of the images of an epoch that do not fill a batch: drop them "
     "(auto), make a smaller batch (pad), or fill it up from the epoch's "
     "beginning (repeat).",
     ""},
    {"image_size", &P::image_size, Between(8, 4096), "pixels",
     "Side of the model's input.", ""},
    {"image_size_schedule", &P::image_size_schedule, Any(), "",
     "Smaller training images at first: 'EPOCH:SIZE,...', as '0:160,8:192'; "
     "evaluation uses image_size.",
     "image_size all the time"},
    {"normalization", &P::normalization, OneOf("imagenet|unit"), "",
     "Scaling of pixels on the device: ImageNet's mean and standard deviation, "
     "or division by 255.",
     ""},
    {"recipe", &P::recipe, OneOf("tpu|torchvision|plain|cifar"), "",
     "Preprocessing: the reference's random crop and flip, torchvision's, the "
     "whole image resized, or CIFAR's shifts.",
     ""},
    {"interpolation", &P::interpolation,
     OneOf("recipe|bicubic|bilinear|antialias"), "",
     "Kernel that resizes crop windows; recipe: the recipe's own.", ""},
    {"random_flip", &P::random_flip, Any(), "",
     "Mirror training images at random in recipes that do so; give false for "
     "digits and letters.",
     ""},
    {"scaled_decode", &P::scaled_decode, Any(), "",
     "Decode a training JPEG to 1/2, 1/4 or 1/8 of its size where its crop is "
     "that much larger than image_size: faster, other pixels.",
     ""},
    {"augment_name", &P::augment_name, OneOf("none|autoaugment|randaugment"),
     "", "Augmentation of training images beyond crop and flip.", ""},
    {"randaug_num_layers", &P::randaug_num_layers, Between(1, 16), "operations",
     "Operations that randaugment applies to an image.", ""},
    {"randaug_magnitude", &P::randaug_magnitude, Between(0, 30), "",
     "Strength of randaugment's operations.", ""},
    {"random_erasing", &P::random_erasing, Between(0, 1), "",
     "Probability that a rectangle of a training image is erased.", ""},
    {"mixup_alpha", &P::mixup_alpha, NotNegative(), "",
     "MixUp on the device: blend pairs of images; 0: none.", ""},
    {"cutmix_alpha", &P::cutmix_alpha, NotNegative(), "",
     "CutMix on the device: take a rectangle from another image; 0: none. With "
     "mixup_alpha, each batch gets one of the two.",
     ""},
    {"shuffle", &P::shuffle, OneOf("global|window|reference|torch|none"), "",
     "Order of the training images: a permutation of all, of neighbours in "
     "interleaved shards, the reference's shuffling, PyTorch's randperm, or "
     "their order in the shards.",
     ""},
    {"window_shards", &P::window_shards, Between(1, 1 << 24), "shards",
     "Shards that shuffle=window interleaves at once.", ""},
    {"window_records", &P::window_records, Between(1, 1 << 24), "records",
     "Records that shuffle=window shuffles among each other.", ""},
    {"rank_share", &P::rank_share, OneOf("contiguous|strided|strided_drop"), "",
     "Images of a training batch that a rank takes: a stretch of them, or "
     "every world_size-th, as PyTorch's DistributedSampler. Strided ranks fill "
     "an epoch up from its beginning until they share it evenly, or cut it "
     "(strided_drop).",
     ""},
    {"seed", &P::seed, Between(0, 0x1p64), "",
     "Seed of order, crops, flips and initial weights.", ""},
    {"on_bad_record", &P::on_bad_record, OneOf("fail|replace|skip"), "",
     "Policy for a training record that cannot be read: end the run, take "
     "another in its place, or leave its place empty.",
     ""},
    {"max_bad_records", &P::max_bad_records, Between(-1, kMaxImages), "records",
     "End the run after this many different bad records, of all ranks; -1: "
     "never.",
     ""},
    {"max_bad_rate", &P::max_bad_rate, Between(0, 1), "",
     "End the run when more than this share of the samples is bad.", ""},
    {"bad_record_report", &P::bad_record_report, Any(), "",
     "File that lists every bad record, one JSON object a line.", "no file"},
    {"lenient", &P::lenient, Any(), "",
     "Use JPEGs that libjpeg only warns about, and count them.", ""},
};

const Param kInputParams[] = {
    {"graph", &P::graph, OneOf("flow|basic"), "",
     "Schedule of the input: overlapped in all threads (flow), or one record "
     "after the other (basic), to see what a slow input does.",
     ""},
    {"num_parallel_calls", &P::num_parallel_calls, Between(0, kMostThreads),
     "threads", "Threads of the input pipeline.", "one for each core"},
    {"batches_in_pool", &P::batches_in_pool, Between(kLeastBatches, 1024),
     "batches", "Batches that are being filled, waiting or in use at once.",
     ""},
    {"prefetch_batches", &P::prefetch_batches, Between(0, 1024), "batches",
     "Batches ahead of those in the pool whose records are read already.", ""},
    {"autotune", &P::autotune, Any(), "",
     "Find num_parallel_calls, batches_in_pool and prefetch_batches by trying, "
     "for three seconds at the start.",
     ""},
    {"use_cache", &P::use_cache, Any(), "",
     "Keep encoded records in memory, as far as memory_limit allows.", ""},
    {"data_on_device", &P::data_on_device, Any(), "",
     "Keep the training images in the device's memory, from records with "
     "packed pixels; a GPU then trains whole loops without the host.",
     ""},
    {"device_resize", &P::device_resize, Any(), "",
     "Send crop windows to the device as decoded and resize them there, to the "
     "same pixels; recipes with antialiasing cannot.",
     ""},
    {"memory_limit", &P::memory_limit, Between(0x1p20, 0x1p44), "bytes",
     "Memory that the input may use, checked at the start: as 4GiB, 512MB, or "
     "as 50% of the memory of the machine or control group.",
     ""},
};

const Param kRunLengthParams[] = {
    {"train_steps", &P::train_steps, Between(1, kMaxSteps), "steps",
     "Length of the whole training, earlier runs included.", "90 epochs"},
    {"train_epochs", &P::train_epochs, Between(0, 1e9), "epochs",
     "Length of the whole training; give this or train_steps.",
     "train_steps counts"},
    {"iterations_per_loop", &P::iterations_per_loop, Between(1, kMaxSteps),
     "steps", "Steps that the device runs before the host is asked again.",
     "one epoch, at most 1251"},
    {"steps_per_eval", &P::steps_per_eval, Between(1, kMaxSteps), "steps",
     "Steps between evaluations.", "one epoch"},
    {"steps_per_checkpoint", &P::steps_per_checkpoint, Between(1, kMaxSteps),
     "steps",
     "Steps between checkpoints; one is written at the end of the first loop "
     "after them.",
     "5000, at least iterations_per_loop"},
    {"keep_last", &P::keep_last, Between(1, 1'000'000), "checkpoints",
     "Newest checkpoints that are kept; older ones are deleted.", ""},
    {"keep_every", &P::keep_every, Between(0, kMaxSteps), "steps",
     "Keep the checkpoints of all multiples of this step for good; 0: none.",
     ""},
    {"keep_best", &P::keep_best,
     OneOf("none|top_1|top_5|loss|mean_class|auc|auc_at_half"), "",
     "Keep the checkpoint with the best evaluation by this metric.", ""},
    {"use_async_checkpointing", &P::use_async_checkpointing, Any(), "",
     "Write checkpoints while the training goes on.", ""},
    {"log_step_count_steps", &P::log_step_count_steps, Between(1, kMaxSteps),
     "steps",
     "Steps between lines in metrics.jsonl, the event file and, with "
     "log_every_steps, on stderr.",
     ""},
    {"log_every_steps", &P::log_every_steps, Any(), "",
     "Print a line with loss, accuracy, learning rate and images/s every "
     "log_step_count_steps steps, beside the progress line.",
     ""},
    {"skip_host_call", &P::skip_host_call, Any(), "",
     "Leave the steps out of metrics.jsonl and the event file: loops alone are "
     "written.",
     ""},
    {"epoch_lines", &P::epoch_lines, Any(), "",
     "Print a line of losses and accuracies after each epoch.", ""},
    {"profile_every_n_steps", &P::profile_every_n_steps, Between(0, kMaxSteps),
     "steps", "Steps between profiles; 0: none.", ""},
    {"profile_every_n_seconds", &P::profile_every_n_seconds, Between(0, 1e9),
     "seconds", "Seconds between profiles; 0: none.", ""},
    {"tpu_profile_duration", &P::tpu_profile_duration, Between(1, 3'600'000),
     "ms", "Length of a profile.", ""},
    {"stop_at_top_1", &P::stop_at_top_1, Between(0, 1), "",
     "End the training after an evaluation with at least this top-1 accuracy; "
     "0: never.",
     ""},
};

const Param kOptimizerParams[] = {
    {"optimizer", &P::optimizer, OneOf("momentum|lars|adam|adamw"), "",
     "Method that turns gradients into updates.", ""},
    {"enable_lars", &P::enable_lars, Any(), "",
     "Use LARS: the reference's name for optimizer=lars.", ""},
    {"base_learning_rate", &P::base_learning_rate, Positive(), "",
     "Peak of the learning rate for a batch of 256.", ""},
    {"body_learning_rate_factor", &P::body_learning_rate_factor, NotNegative(),
     "",
     "Factor of the learning rate of all layers but the classifier, in a "
     "training that starts from resnet_checkpoint.",
     ""},
    {"learning_rate_scaling", &P::learning_rate_scaling, OneOf("linear|none"),
     "", "Scaling of the learning rate: by train_batch_size / 256, or none.",
     ""},
    {"learning_rate_schedule", &P::learning_rate_schedule,
     OneOf("reference|steps|cosine|linear|constant"), "",
     "Course of the learning rate after its warm-up: a tenth at 30, 60 and 80 "
     "of 90 epochs, a tenth at each third of the run, a cosine or a line to 0, "
     "or constant.",
     ""},
    {"warmup_epochs", &P::warmup_epochs, Between(-1, 1e6), "epochs",
     "Epochs in which the learning rate rises from 0; -1: the schedule's own.",
     ""},
    {"poly_rate", &P::poly_rate, NotNegative(), "",
     "Peak of the learning rate with LARS; 0: the reference's for the batch.",
     ""},
    {"momentum", &P::momentum, BelowOne(), "",
     "Momentum of the optimizers momentum and lars.", ""},
    {"use_nesterov", &P::use_nesterov, Any(), "", "Use Nesterov's momentum.",
     ""},
    {"adam_beta1", &P::adam_beta1, BelowOne(), "",
     "Fraction of the mean gradient that Adam keeps per step.", ""},
    {"adam_beta2", &P::adam_beta2, BelowOne(), "",
     "Fraction of the mean squared gradient that Adam keeps per step.", ""},
    {"adam_epsilon", &P::adam_epsilon, NotNegative(), "",
     "Number that Adam adds to the root of the mean square.",
     "1.1920929e-07 of adam, 1e-08 of adamw"},
    {"weight_decay", &P::weight_decay, NotNegative(), "",
     "Factor of the L2 term of the loss.", ""},
    {"weight_decay_scope", &P::weight_decay_scope,
     OneOf("reference|weights|all"), "",
     "Parameters that decay: all but batch norm's (reference), all but batch "
     "norm's and biases (weights), or all.",
     ""},
    {"label_smoothing", &P::label_smoothing, BelowOne(), "",
     "Share of the target that all classes get alike.", ""},
    {"moving_average_decay", &P::moving_average_decay, BelowOne(), "",
     "Fraction of the moving average of the weights kept per step; evaluation "
     "uses the average; 0: none.",
     ""},
    {"export_moving_average", &P::export_moving_average, Any(), "",
     "Export the moving average instead of the weights.", ""},
    {"clip_gradient_norm", &P::clip_gradient_norm, NotNegative(), "",
     "Greatest norm of the gradient of all weights together; 0: no limit.", ""},
    {"gradient_accumulation_steps", &P::gradient_accumulation_steps,
     Between(1, 4096), "parts",
     "Parts in which a batch is computed, to save memory.", ""},
};

// The groups, in the order of --help and of params.yaml.
const ParamGroup kGroups[] = {
    {"Model", kModelParams},
    {"Data and preprocessing", kDataParams},
    {"Input engine", kInputParams},
    {"Length, checkpoints and logs", kRunLengthParams},
    {"Learning", kOptimizerParams},
};

const UnsupportedParam kUnsupported[] = {
    {"use_tpu", "true", kTruth,
     "there is no TPU here, --device chooses the device"},
    {"num_cores", "8", "",
     "each process drives one device, and how many there are the ranks decide "
     "(--local_ranks, or a launcher)"},
    {"transpose_input", "true", kTruth,
     "the layout in memory is chosen here, the fastest for the device"},
    {"data_format", "channels_last", "channels_last|channels_first",
     "the layout in memory is chosen here, channels_last for every model"},
    {"norm_act_layer", "bn_relu", "bn_relu", "EvoNorm is not implemented"},
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
  for (const UnsupportedParam& param : kUnsupported) {
    names.push_back(param.name);
  }
  return names;
}

}  // namespace

std::span<const ParamGroup> ParamGroups() { return kGroups; }

std::span<const Param> ParamTable() {
  static const std::vector<Param> all = AllParams();
  return all;
}

std::span<const UnsupportedParam> UnsupportedParams() { return kUnsupported; }

const Param* FindParam(std::string_view name) {
  const std::string_view known = name == kOldDepthName ? "resnet_depth" : name;
  const std::span<const Param> table = ParamTable();
  const auto found = std::ranges::find(table, known, &Param::name);
  return found == table.end() ? nullptr : &*found;
}

const UnsupportedParam* FindUnsupportedParam(std::string_view name) {
  const UnsupportedParam* const found =
      std::ranges::find(kUnsupported, name, &UnsupportedParam::name);
  return found == std::end(kUnsupported) ? nullptr : found;
}

std::string_view NearestParamName(std::string_view name) {
  static const std::vector<std::string_view> names = AllNames();
  return NearestName(name, names);
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
