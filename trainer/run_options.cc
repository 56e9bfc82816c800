#include "trainer/run_options.h"

#include <algorithm>

#include "pipeline/options.h"
#include "pipeline/stream_state.h"
#include "preprocess/recipe.h"

namespace infeed {
namespace {

Precision PrecisionOf(const std::string& name, bool on_gpu) {
  if (name == "auto") {
    return on_gpu || CpuGainsFromBfloat16() ? Precision::kBfloat16
                                            : Precision::kFloat32;
  }
  return name == "bfloat16" ? Precision::kBfloat16 : Precision::kFloat32;
}

// What training and evaluation share.
InputOptions InputOf(const TrainParams& params) {
  return {.image_size = params.image_size,
          .recipe = ParseRecipe(params.recipe),
          .interpolation = ParseInterpolation(params.interpolation),
          .seed = params.seed,
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
  input.scaled_decode = params.scaled_decode;
  input.augment = AugmentOf(params);
  input.shuffle = ParseShuffle(params.shuffle);
  input.window_shards = params.window_shards;
  input.window_records = params.window_records;
  input.on_bad_record = ParseOnBadRecord(params.on_bad_record);
  input.max_bad_records = params.max_bad_records;
  input.max_bad_rate = params.max_bad_rate;
  input.bad_record_report = params.bad_record_report;
  input.lenient = params.lenient;
  input.use_cache = params.use_cache;
  return input;
}

}  // namespace

RunParams Resolve(const RunParams& params, const std::string& device,
                  const DataSet& data) {
  RunParams resolved = params;
  ResolveDefaults({.train_images = data.train_images(),
                   .eval_images = data.eval_images(),
                   .label_classes = data.num_classes(),
                   .on_gpu = IsGpu(device)},
                  resolved);
  return resolved;
}

ModelOptions ModelOf(const TrainParams& params) {
  return {.depth = params.resnet_depth,
          .num_classes = params.num_label_classes,
          .seed = params.seed};
}

OptimizerOptions OptimizerOf(const TrainParams& params) {
  return {.learning_rate = {.base_learning_rate = params.base_learning_rate,
                            .batch_size = params.train_batch_size,
                            .train_images = params.num_train_images,
                            .train_steps = params.train_steps},
          .momentum = params.momentum,
          .nesterov = params.use_nesterov,
          .weight_decay = params.weight_decay,
          .label_smoothing = params.label_smoothing};
}

DeviceOptions DeviceOf(const TrainParams& params, const std::string& device) {
  return {.device = device,
          .precision = PrecisionOf(params.precision, IsGpu(device))};
}

InputOptions EvalInputOf(const TrainParams& params) {
  InputOptions input = InputOf(params);
  input.batch_size = params.eval_batch_size;
  input.training = false;
  input.max_records = params.num_eval_images;
  return input;
}

RunIdentity IdentityOf(const TrainParams& params, const DataSet& data) {
  RunIdentity identity = {
      {"resnet_depth", std::to_string(params.resnet_depth)},
      {"num_label_classes", std::to_string(params.num_label_classes)}};
  if (!data.train()) {
    return identity;
  }
  const StreamState stream =
      StateOf(data.train()->index, TrainInputOf(params), {});
  for (const auto& [name, value] : stream.identity) {
    // By the parameters' names, where those are others.
    identity.push_back({name == "data"         ? "data_identity"
                        : name == "batch_size" ? "train_batch_size"
                                               : name,
                        value});
  }
  return identity;
}

TrainingOptions TrainingOf(const TrainParams& params,
                           const std::string& model_dir, const DataSet& data) {
  return {.model_dir = model_dir,
          .identity = IdentityOf(params, data),
          .input = TrainInputOf(params),
          .iterations_per_loop = params.iterations_per_loop,
          .steps_per_checkpoint = params.steps_per_checkpoint,
          .keep_last = params.keep_last};
}

}  // namespace infeed
