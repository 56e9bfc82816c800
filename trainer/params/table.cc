#include "trainer/params/table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/order/input_table.h"
#include "records/bytes/nearest_name.h"
#include "records/files/class_list.h"
#include "trainer/model/named_networks.h"
#include "trainer/params/table_rows.h"
#include "trainer/params/unsupported.h"

namespace infeed {
namespace {

using P = TrainParams;
using M = ModelOptions;
using O = OptimizerOptions;
using S = SelectionChoice;

constexpr double kMaxSteps = 1e12;
constexpr double kMaxImages = 0x1p32 - 1;  // what a sample order holds

// What a parameter says otherwise than the input's option; nothing: the same.
struct Otherwise {
  std::string_view name = {};
  std::optional<OptionRange> range = {};
  std::string_view help = {};
  std::string_view when_not_given = {};
};

Param Input(std::string_view option, const Otherwise& other = {}) {
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
      [at = input.at](P& params) { return at(params.input); }};
}

// Sets the kind of a model, or all of a published network's shape.
bool SetModel(void* field, std::string_view name) {
  M& model = *static_cast<M*>(field);
  if (const ModelKind* const kind = FindChoice(name, kModelKinds)) {
    model.kind = *kind;
    return true;
  }
  const NamedNetwork* const network = FindNetwork(name);
  if (network != nullptr) {
    ShapeOf(model) = ShapeOf(network->shape);
  }
  return network != nullptr;
}

// "resnet|lenet|resnet18|...".
std::string_view ModelNames() {
  static const std::string kNames = [] {
    std::string names(ChoiceField<kModelKinds, &P::model, &M::kind>().choices);
    return names.append("|").append(NetworkNames());
  }();
  return kNames;
}

// Its value is the kind alone: a network's shape is that of other parameters.
OptionField<P> ModelField() {
  return {.at = [](P& params) -> OptionRef {
            return ChoiceRef{.field = &params.model,
                             .name =
                                 [](const void* field) {
                                   return ChoiceName(
                                       static_cast<const M*>(field)->kind,
                                       kModelKinds);
                                 },
                             .set = SetModel};
          },
          .choices = ModelNames()};
}

const Param kModelParams[] = {
    Row("model", ModelField(), Any(), "",
        "Network: a ResNet, LeNet-5 for images of 28 pixels, or a published "
        "network, whose name sets the parameters of its layers."),
    Common(Row("resnet_depth",
               ChoiceField<kResNetDepths, &P::model, &M::depth>(), Any(),
               "layers", "Number of layers of the ResNet.")),
    Row("model_variant", ChoiceField<kModelVariants, &P::model, &M::variant>(),
        Any(), "",
        "Geometry and tensor names of the ResNet: torchvision's, the reference "
        "driver's, or the XLA.jl article's."),
    Row("groups", Field<&P::model, &M::groups>(), Between(1, 1024), "",
        "Groups of the 3x3 convolutions in bottleneck blocks (ResNeXt)."),
    Row("width_per_group", Field<&P::model, &M::width_per_group>(),
        Between(1, 1024), "channels",
        "Channels of each group in the first bottleneck blocks; later blocks "
        "have proportionally more."),
    Row("pre_activation", Field<&P::model, &M::pre_activation>(), Any(), "",
        "Put batch norm and ReLU before each convolution (ResNet v2)."),
    Row("small_stem", Field<&P::model, &M::small_stem>(), Any(), "",
        "Begin with a 3x3 convolution and no pool, for images of 32 to 64 "
        "pixels."),
    Row("use_resnetd_stem", Field<&P::model, &M::resnetd_stem>(), Any(), "",
        "Begin with three 3x3 convolutions instead of one of 7x7 (ResNet-D)."),
    Row("use_resnett_stem", Field<&P::model, &M::resnett_stem>(), Any(), "",
        "Begin with three 3x3 convolutions, the first with 24 channels "
        "(ResNet-T)."),
    Row("resnetd_shortcut", Field<&P::model, &M::resnetd_shortcut>(), Any(), "",
        "Average before the 1x1 convolution of a shortcut with stride 2 "
        "(ResNet-D)."),
    Row("replace_stem_max_pool", Field<&P::model, &M::replace_stem_max_pool>(),
        Any(), "",
        "Use a 3x3 convolution with stride 2 instead of the first pool."),
    Row("blur_pool", Field<&P::model, &M::blur_pool>(), Any(), "",
        "Blur instead of skipping pixels in the first pool and in 3x3 "
        "convolutions with stride 2 (BlurPool)."),
    Row("channels", Field<&P::model, &M::channels>(),
        Between(1, kMaxInputChannels), "channels",
        "Input channels of a ResNet: red, green and blue; 1 for gray images, "
        "the luminance of each pixel; others take the colors in turn."),
    Row("zero_gamma", Field<&P::model, &M::zero_gamma>(), Any(), "",
        "Start each block as its shortcut alone: the scale of its last batch "
        "norm is 0."),
    Row("se_ratio", Field<&P::model, &M::se_ratio>(), Between(0, 1), "",
        "Squeeze-and-excitation ratio in bottleneck blocks; 0: none."),
    Row("eca", Field<&P::model, &M::eca>(), Any(), "",
        "Efficient channel attention in bottleneck blocks."),
    Row("drop_connect_rate", Field<&P::model, &M::drop_connect_rate>(),
        BelowOne(), "",
        "Probability that a sample skips the last bottleneck block's branch "
        "(stochastic depth); earlier blocks have less."),
    Row("drop_connect_growth",
        ChoiceField<kDropGrowths, &P::model, &M::drop_connect_growth>(), Any(),
        "",
        "Growth of drop_connect_rate towards the last block: by group of "
        "blocks, as the reference, or by block from 0, as timm."),
    Row("dropout_rate", Field<&P::model, &M::dropout_rate>(), BelowOne(), "",
        "Dropout probability of the features before the classifier."),
    Row("dropblock_groups", Field<&P::dropblock_groups>(), Any(), "",
        "Groups of blocks with DropBlock, as '3,4'.", "none"),
    Row("dropblock_keep_prob",
        Field<&P::model, &M::drop_block, &DropBlockOptions::keep_prob>(),
        Between(0, 1), "",
        "Fraction of the features that DropBlock keeps at the end of the "
        "training.",
        "needed with groups"),
    Row("dropblock_size",
        Field<&P::model, &M::drop_block, &DropBlockOptions::size>(),
        Between(1, 4096), "pixels",
        "Side of the squares that DropBlock drops."),
    Row("bn_momentum", Field<&P::model, &M::bn_momentum>(), BelowOne(), "",
        "Batch-norm momentum: fraction of the running mean and variance kept "
        "per step (PyTorch's is 1 minus this)."),
    Row("bn_epsilon", Field<&P::model, &M::bn_epsilon>(), Positive(), "",
        "Number that batch norm adds to the variance."),
    Row("fused_batch_norm",
        ChoiceField<kFusedNorms, &P::model, &M::fused_batch_norm>(), Any(), "",
        "Train with batch norm, sum and ReLU as one operation; on a GPU, "
        "kernels that access memory less often; auto: on a GPU with "
        "batch_norm_group=1."),
    Row("batch_norm_group", Field<&P::batch_norm_group>(), Between(0, 100'000),
        "ranks",
        "Consecutive ranks that share batch-norm statistics; 1: none, 0: all "
        "ranks."),
    Input("num_label_classes",
          {.range = Between(0, kMostClasses),
           .help = "Number of classes: outputs of the model.",
           .when_not_given = "as many as the data has"}),
    Input("label_offset"),
    Common(Row(
        "precision", ChoiceField<kPrecisions, &P::precision>(), Any(), "",
        "Arithmetic of the model; auto: bfloat16 on a GPU, on a CPU the faster "
        "of both by a trial.")),
    Row("cuda_graph", ChoiceField<kGraphReplays, &P::cuda_graph>(), Any(), "",
        "Replay steps as CUDA graphs on a GPU; without, the same work is "
        "launched kernel by kernel, also with true where the GPU rejects "
        "graphs; required makes that an error."),
    Row("deterministic", Field<&P::deterministic>(), Any(), "",
        "On a GPU, use algorithms of cuDNN and cuBLAS that give the same bits "
        "in every run, and do not search for the fastest ones; on a CPU a run "
        "always has the same bits."),
    Row("tf32", Field<&P::tf32>(), Any(), "",
        "On a GPU with precision=float32, round the inputs of convolutions "
        "and matrix products to TF32 (10 bits), which is faster."),
    Common(Row("resnet_checkpoint", Field<&P::resnet_checkpoint>(), Any(),
               "path",
               "Start from these weights: a model_dir or checkpoint of "
               "train_resnet, safetensors or .pth of torchvision or timm, a "
               "TensorFlow checkpoint, or a name such as resnet18.",
               "from random weights")),
    Row("frozen_stages", Field<&P::model, &M::frozen_stages>(), Between(0, 5),
        "stages",
        "Number of the model's first stages whose weights do not change; 1 "
        "is the stem."),
    Row("freeze_batch_norm", Field<&P::model, &M::freeze_batch_norm>(), Any(),
        "", "Train with the unchanged running statistics of batch norm."),
};

const Param kDataParams[] = {
    Row("num_train_images", Field<&P::num_train_images>(),
        Between(0, kMaxImages), "images",
        "Images of an epoch, from which steps and learning rates are "
        "computed.",
        "as many as the data has"),
    Row("num_eval_images", Field<&P::num_eval_images>(), Between(0, kMaxImages),
        "images", "Images to evaluate.", "as many as the data has"),
    Row("eval_split", Field<&P::eval_split>("auto|train|validation|test"),
        Any(), "",
        "Split to evaluate; auto: validation where there is one, else test."),
    Row("allow_missing_shards", Field<&P::allow_missing_shards>(), Any(), "",
        "Continue if shards of the data set are missing, and print how many "
        "images are missing; otherwise missing shards end the run."),
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
        "all records"),
    Row("classes", Field<&P::selection, &S::classes>(), Any(), "",
        "Train on the records of these classes: names, or labels as stored in "
        "records, as 'cat,dog'.",
        "all classes"),
    Row("balance_classes", Field<&P::selection, &S::balance_classes>(), Any(),
        "", "Give every class the same share of an epoch."),
    Row("class_weights", Field<&P::selection, &S::class_weights>(), Any(),
        "file",
        "File with a class and its weight, its share of an epoch, per line.",
        "none"),
    Row("sample_weights", Field<&P::selection, &S::sample_weights>(), Any(),
        "file",
        "File with a weight per line for every record: how often it is used.",
        "none"),
    Row("mix", Field<&P::selection, &S::mix>(), Any(), "",
        "Train on several data sets, each with its share of an epoch, as "
        "'DIR=0.7,DIR2=0.3', in place of data_dir's training images.",
        "only data_dir"),
    Row("epoch_records", Field<&P::selection, &S::epoch_records>(),
        Between(0, kMaxImages), "images", "Images of an epoch.",
        "as many as are selected"),
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
        "image_size all the time"),
    Row("normalization", ChoiceField<kNormalizations, &P::normalization>(),
        Any(), "",
        "Scaling of pixels on the device: ImageNet's mean and standard "
        "deviation, or division by 255."),
    Input("recipe"),
    Input("interpolation"),
    Input("random_flip"),
    Input("random_flip_vertical"),
    Input("crop_scale"),
    Input("crop_ratio"),
    Input("eval_resize"),
    Input("eval_crop"),
    Row("eval_crops", ChoiceField<kEvalCrops, &P::eval_crops>(), Any(), "",
        "Crops of an image in an evaluation, whose logits are averaged: the "
        "centre; that and the corners; or these of the mirrored image, too."),
    Row("eval_flip", Field<&P::eval_flip>(), Any(), "",
        "Evaluate each image and its mirror image, and average their logits."),
    Row("eval_image_sizes", Field<&P::eval_image_sizes>(), Any(), "pixels",
        "Sizes of the model's input in mode eval, with an evaluation of each, "
        "as '192,224,288' or '224x224,224x320'.",
        "image_size"),
    Input("scaled_decode"),
    Input("augment", {.name = "augment_name"}),
    Input("augment_layers", {.name = "randaug_num_layers"}),
    Input("augment_magnitude", {.name = "randaug_magnitude"}),
    Input("augment_magnitude_std", {.name = "randaug_magnitude_std"}),
    Input("augment_interpolation"),
    Input("brightness"),
    Input("contrast"),
    Input("saturation"),
    Input("hue"),
    Input("grayscale"),
    Input("blur"),
    Input("random_erasing"),
    Input("erasing_mode"),
    Row("mixup_alpha", Field<&P::optimizer, &O::mixup_alpha>(), NotNegative(),
        "", "MixUp on the device: blend pairs of images; 0: none."),
    Row("cutmix_alpha", Field<&P::optimizer, &O::cutmix_alpha>(), NotNegative(),
        "",
        "CutMix on the device: take a rectangle from another image; 0: none. "
        "With mixup_alpha, each batch gets one of the two."),
    Input("shuffle"),
    Input("window_shards"),
    Input("window_records"),
    Input("rank_share"),
    Input("seed", {.help = "Seed of order, crops, flips and initial weights."}),
    Input("on_bad_record"),
    Input("max_bad_records", {.range = Between(-1, kMaxImages)}),
    Input("max_bad_rate"),
    Input("bad_record_report"),
    Input("lenient"),
};

const Param kInputParams[] = {
    Input("graph"),
    Input("threads", {.name = "num_parallel_calls"}),
    Input("batches_in_pool", {.range = Between(kLeastBatches, 1024)}),
    Input("prefetch_batches"),
    Input("map_files"),
    Input("seek_index"),
    Input("use_cache"),
    Row("data_on_device", Field<&P::data_on_device>(), Any(), "",
        "Keep the training images in the device's memory, from records with "
        "packed pixels; a GPU then trains whole loops without the host."),
    Input("memory_limit", {.range = Between(0x1p20, 0x1p44)}),
};

const Param kRunLengthParams[] = {
    Row("train_steps", Field<&P::train_steps>(), Between(1, kMaxSteps), "steps",
        "Length of the whole training, including earlier runs.", "90 epochs"),
    Common(Row("train_epochs", Field<&P::train_epochs>(), Between(0, 1e9),
               "epochs",
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
    Row("keep_best",
        Field<&P::keep_best>(
            "none|top_1|top_5|loss|mean_class|auc|auc_at_half"),
        Any(), "",
        "Keep the checkpoint with the best evaluation by this metric."),
    Row("use_async_checkpointing", Field<&P::use_async_checkpointing>(), Any(),
        "", "Write checkpoints while the training continues."),
    Row("log_step_count_steps", Field<&P::log_step_count_steps>(),
        Between(1, kMaxSteps), "steps",
        "Steps between lines in metrics.jsonl, the event file and, with "
        "log_every_steps, on stderr."),
    Row("log_every_steps", Field<&P::log_every_steps>(), Any(), "",
        "Print a line with loss, accuracy, learning rate and images/s every "
        "log_step_count_steps steps, beside the progress line."),
    Row("skip_host_call", Field<&P::skip_host_call>(), Any(), "",
        "Write only loops, not steps, to metrics.jsonl and the event file."),
    Row("epoch_lines", Field<&P::epoch_lines>(), Any(), "",
        "Print a line of losses and accuracies after each epoch."),
    Row("profile_every_n_steps", Field<&P::profile_every_n_steps>(),
        Between(0, kMaxSteps), "steps", "Steps between profiles; 0: none."),
    Row("profile_every_n_seconds", Field<&P::profile_every_n_seconds>(),
        Between(0, 1e9), "seconds", "Seconds between profiles; 0: none."),
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
    {"Model", kModelParams},
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

}  // namespace

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
  } else {
    SetOption(param, given, param.at(params));
  }
}

}  // namespace infeed
