#include "trainer/job/station_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/order/options.h"
#include "pipeline/order/stream_state.h"
#include "preprocess/recipe/recipe.h"
#include "trainer/feed/fake_data.h"
#include "trainer/model/image_size_schedule.h"
#include "trainer/params/params.h"
#include "trainer/ranks/parts.h"

namespace infeed {
namespace {

// In a training run on a CPU, SettlePrecision() has already replaced "auto".
Precision PrecisionOf(const std::string& name, bool on_gpu) {
  return name == "bfloat16" || (name == "auto" && on_gpu) ? Precision::kBfloat16
                                                          : Precision::kFloat32;
}

ModelVariant ParseModelVariant(const std::string& name) {
  if (name == "tpu") {
    return ModelVariant::kTpu;
  }
  return name == "xla_jl" ? ModelVariant::kXlaJl : ModelVariant::kTorchvision;
}

// "3,4": groups of blocks.
std::vector<int> ParseGroups(const std::string& text) {
  std::vector<int> groups;
  for (const char c : text) {
    if (c >= '1' && c <= '4') {
      groups.push_back(c - '0');
    } else if (c != ',' && c != ' ') {
      throw UsageError("dropblock_groups='" + text +
                       "': must be groups of 1 to 4, as '3,4'");
    }
  }
  return groups;
}

OptimizerKind ParseOptimizer(const TrainParams& params) {
  const std::string& name = params.enable_lars ? "lars" : params.optimizer;
  if (name == "lars") {
    return OptimizerKind::kLars;
  }
  if (name == "adam") {
    return OptimizerKind::kAdam;
  }
  return name == "adamw" ? OptimizerKind::kAdamW : OptimizerKind::kMomentum;
}

RateSchedule ParseRateSchedule(const std::string& name) {
  if (name == "steps") {
    return RateSchedule::kSteps;
  }
  if (name == "cosine") {
    return RateSchedule::kCosine;
  }
  if (name == "linear") {
    return RateSchedule::kLinear;
  }
  return name == "constant" ? RateSchedule::kConstant
                            : RateSchedule::kReference;
}

LearningRateOptions LearningRateOf(const TrainParams& params) {
  return {.base_learning_rate = params.base_learning_rate,
          .scaled_by_batch = params.learning_rate_scaling == "linear",
          .schedule = ParseRateSchedule(params.learning_rate_schedule),
          .warmup_epochs = params.warmup_epochs,
          .lars = ParseOptimizer(params) == OptimizerKind::kLars,
          .poly_rate = params.poly_rate,
          .batch_size = params.train_batch_size,
          .train_images = params.num_train_images,
          .train_steps = params.train_steps};
}

// 0 stands for the default of the kind's original implementation.
double AdamEpsilonOf(const TrainParams& params) {
  if (params.adam_epsilon > 0) {
    return params.adam_epsilon;
  }
  return ParseOptimizer(params) == OptimizerKind::kAdamW
             ? 1e-8
             : OptimizerOptions{}.adam_epsilon;
}

DecayScope ParseDecayScope(const std::string& name) {
  if (name == "weights") {
    return DecayScope::kWeights;
  }
  return name == "all" ? DecayScope::kAll : DecayScope::kReference;
}

// The part that training and evaluation share.
InputOptions InputOf(const TrainParams& params) {
  return {.image_size = params.image_size,
          .recipe = ParseRecipe(params.recipe),
          .interpolation = ParseInterpolation(params.interpolation),
          .seed = params.seed,
          .label_offset = ParseLabelOffset(params.label_offset),
          .num_label_classes = params.num_label_classes,
          .graph = ParseGraphKind(params.graph),
          .threads = params.num_parallel_calls,
          .batches_in_pool = params.batches_in_pool,
          .prefetch_batches = params.prefetch_batches,
          .memory_limit = params.memory_limit};
}

AugmentOptions AugmentOf(const TrainParams& params) {
  return {.policy = ParseAugmentPolicy(params.augment_name),
          .layers = params.randaug_num_layers,
          .magnitude = params.randaug_magnitude,
          .erasing = static_cast<float>(params.random_erasing)};
}

InputOptions TrainInputOf(const TrainParams& params) {
  InputOptions input = InputOf(params);
  input.batch_size = params.train_batch_size;
  input.random_flip = params.random_flip;
  input.scaled_decode = params.scaled_decode;
  input.augment = AugmentOf(params);
  input.device_resize = params.device_resize;
  input.last_batch = ParseLastBatch(params.last_batch);
  input.shuffle = ParseShuffle(params.shuffle);
  input.window_shards = params.window_shards;
  input.window_records = params.window_records;
  input.rank_share = ParseRankShare(params.rank_share);
  input.on_bad_record = ParseOnBadRecord(params.on_bad_record);
  input.max_bad_records = params.max_bad_records;
  input.max_bad_rate = params.max_bad_rate;
  input.bad_record_report = params.bad_record_report;
  input.lenient = params.lenient;
  input.use_cache = params.use_cache;
  return input;
}

std::string Quoted(const std::string& name) { return '"' + name + '"'; }

std::string Text(bool value) { return value ? "true" : "false"; }

// All model parameters, also those that the shapes of a checkpoint's tensors do
// not show. Names are plain words, so that quoting makes them JSON.
RunIdentity ModelIdentityOf(const TrainParams& params) {
  return {
      {"model", Quoted(params.model)},
      {"model_variant", Quoted(params.model_variant)},
      {"resnet_depth", std::to_string(params.resnet_depth)},
      {"num_label_classes", std::to_string(params.num_label_classes)},
      {"pre_activation", Text(params.pre_activation)},
      {"small_stem", Text(params.small_stem)},
      {"use_resnetd_stem", Text(params.use_resnetd_stem)},
      {"resnetd_shortcut", Text(params.resnetd_shortcut)},
      {"replace_stem_max_pool", Text(params.replace_stem_max_pool)},
      {"se_ratio", fmt::format("{}", params.se_ratio)},
      {"optimizer", Quoted(params.enable_lars ? "lars" : params.optimizer)}};
}

}  // namespace

RunParams Resolve(const RunParams& params, const std::string& device,
                  const DataSet& data, int ranks) {
  RunParams resolved = params;
  // Throws for an invalid schedule before anything is written.
  const ImageSizeSchedule sizes(params.values.image_size_schedule,
                                params.values.image_size);
  if (data.is_fake()) {
    ResolveFakeData(IsGpu(device), resolved);
    return resolved;
  }
  ResolveDefaults({.train_images = data.train_images(),
                   .eval_images = data.eval_images(),
                   .labels = data.labels(),
                   .on_gpu = IsGpu(device),
                   .ranks = ranks},
                  resolved);
  return resolved;
}

ModelOptions ModelOf(const TrainParams& params) {
  return {.kind = ModelKindOf(params),
          .variant = ParseModelVariant(params.model_variant),
          .depth = params.resnet_depth,
          .num_classes = params.num_label_classes,
          .seed = params.seed,
          .pre_activation = params.pre_activation,
          .small_stem = params.small_stem,
          .resnetd_stem = params.use_resnetd_stem,
          .resnetd_shortcut = params.resnetd_shortcut,
          .replace_stem_max_pool = params.replace_stem_max_pool,
          .zero_gamma = params.zero_gamma,
          .se_ratio = params.se_ratio,
          .drop_connect_rate = params.drop_connect_rate,
          .dropout_rate = params.dropout_rate,
          .drop_block = {.groups = ParseGroups(params.dropblock_groups),
                         .keep_prob = params.dropblock_keep_prob,
                         .size = params.dropblock_size,
                         .train_steps = params.train_steps},
          .bn_momentum = params.bn_momentum,
          .bn_epsilon = params.bn_epsilon,
          .fused_batch_norm = params.fused_batch_norm,
          .frozen_stages = params.frozen_stages,
          .freeze_batch_norm = params.freeze_batch_norm};
}

OptimizerOptions OptimizerOf(const TrainParams& params) {
  return {.kind = ParseOptimizer(params),
          .learning_rate = LearningRateOf(params),
          .body_rate_factor = params.resnet_checkpoint.empty()
                                  ? 1
                                  : params.body_learning_rate_factor,
          .momentum = params.momentum,
          .nesterov = params.use_nesterov,
          .adam_beta1 = params.adam_beta1,
          .adam_beta2 = params.adam_beta2,
          .adam_epsilon = AdamEpsilonOf(params),
          .weight_decay = params.weight_decay,
          .decay_scope = ParseDecayScope(params.weight_decay_scope),
          .label_smoothing = params.label_smoothing,
          .moving_average_decay = params.moving_average_decay,
          .clip_gradient_norm = params.clip_gradient_norm,
          .accumulation_steps = params.gradient_accumulation_steps,
          .mixup_alpha = params.mixup_alpha,
          .cutmix_alpha = params.cutmix_alpha,
          .seed = params.seed};
}

DeviceOptions DeviceOf(const TrainParams& params, const std::string& device) {
  return {.device = device,
          .precision = PrecisionOf(params.precision, IsGpu(device)),
          .normalization = params.normalization == "unit"
                               ? Normalization::kUnit
                               : Normalization::kImagenet,
          .graphs = params.cuda_graph,
          .batch_norm_group = params.batch_norm_group};
}

InputOptions EvalInputOf(const TrainParams& params) {
  InputOptions input = InputOf(params);
  input.batch_size = params.eval_batch_size;
  input.training = false;
  input.max_records = params.num_eval_images;
  return input;
}

RunIdentity IdentityOf(const TrainParams& params, const DataSet& data,
                       int ranks) {
  RunIdentity identity = ModelIdentityOf(params);
  if (data.is_fake()) {
    identity.emplace_back("data_identity", "\"fake data\"");  // JSON
  }
  if (!data.train()) {
    return identity;
  }
  InputOptions input = TrainInputOf(params);
  input.world_size = ranks;
  const StreamState stream = StateOf(data.train()->index, input, {});
  for (const auto& [name, value] : stream.identity) {
    // Uses the parameters' names where they differ from the options' names.
    identity.push_back({name == "data"         ? "data_identity"
                        : name == "batch_size" ? "train_batch_size"
                                               : name,
                        value});
  }
  identity.push_back(
      {"image_size_schedule", Quoted(params.image_size_schedule)});
  return identity;
}

TrainingOptions TrainingOf(const TrainParams& params,
                           const std::string& model_dir, const DataSet& data,
                           const RankPlace& place) {
  return {.model_dir = model_dir,
          .identity = IdentityOf(params, data, place.world_size),
          .input = PartOf(TrainInputOf(params), place),
          .model = ModelOf(params),
          .optimizer = OptimizerOf(params),
          .image_size_schedule = params.image_size_schedule,
          .iterations_per_loop = params.iterations_per_loop,
          .steps_per_checkpoint = params.steps_per_checkpoint,
          .keep = {.last = params.keep_last, .every = params.keep_every},
          .keep_best = params.keep_best,
          .async_checkpoints = params.use_async_checkpointing};
}

}  // namespace infeed
