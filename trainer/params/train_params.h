#pragma once

#include <cstdint>
#include <string>

namespace infeed {

// The parameters of a run, under the reference driver's names; the table in
// table.cc has the description and the range of each. Where the table has a
// text for "not given", 0 or "" means that, and ResolveDefaults() sets the
// value from the data.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by meaning.
struct TrainParams {
  // The model.
  std::string model = "resnet";  // resnet, lenet
  int resnet_depth = 50;
  std::string model_variant = "torchvision";  // torchvision, tpu, xla_jl
  bool pre_activation = false;
  bool small_stem = false;
  bool use_resnetd_stem = false;
  bool resnetd_shortcut = false;
  bool replace_stem_max_pool = false;
  bool zero_gamma = true;
  double se_ratio = 0;
  double drop_connect_rate = 0;
  double dropout_rate = 0;
  std::string dropblock_groups;
  double dropblock_keep_prob = 0;
  int dropblock_size = 7;
  double bn_momentum = 0.9;
  double bn_epsilon = 1e-5;
  bool fused_batch_norm = false;
  int batch_norm_group = 1;  // ranks; 0: all
  int num_label_classes = 0;
  std::string label_offset = "auto";  // auto, 0, 1
  std::string precision = "auto";     // auto, bfloat16, float32
  bool cuda_graph = true;

  // Initial weights, and the layers that keep them.
  std::string resnet_checkpoint;
  int frozen_stages = 0;
  bool freeze_batch_norm = false;

  // The data.
  std::int64_t num_train_images = 0;
  std::int64_t num_eval_images = 0;
  std::string eval_split = "auto";  // auto, train, validation, test
  bool allow_missing_shards = false;
  int train_batch_size = 0;
  int eval_batch_size = 0;
  std::string last_batch = "auto";  // auto, drop, pad, repeat
  int image_size = 224;
  std::string image_size_schedule;
  std::string normalization = "imagenet";  // imagenet, unit
  std::string recipe = "tpu";              // tpu, torchvision, plain, cifar
  std::string interpolation = "recipe";
  bool random_flip = true;
  bool scaled_decode = false;
  std::string augment_name = "none";  // none, autoaugment, randaugment
  int randaug_num_layers = 2;
  int randaug_magnitude = 10;
  double random_erasing = 0;
  double mixup_alpha = 0;
  double cutmix_alpha = 0;
  std::string shuffle = "global";  // global, window, reference, torch, none
  int window_shards = 16;
  int window_records = 4096;
  std::string rank_share = "contiguous";  // contiguous, strided, ..._drop
  std::uint64_t seed = 0;
  std::string on_bad_record = "replace";  // fail, replace, skip
  std::int64_t max_bad_records = -1;
  double max_bad_rate = 1;
  std::string bad_record_report;
  bool lenient = false;

  // Threads and memory of the input.
  std::string graph = "flow";  // flow, basic
  int num_parallel_calls = 0;
  int batches_in_pool = 4;  // kLeastBatches or more
  int prefetch_batches = 2;
  bool autotune = false;
  bool use_cache = false;
  bool data_on_device = false;
  bool device_resize = false;
  std::int64_t memory_limit = std::int64_t{4} << 30;

  // Length of the run; intervals of evaluations, checkpoints and logs.
  std::int64_t train_steps = 0;
  double train_epochs = 0;
  std::int64_t iterations_per_loop = 0;
  std::int64_t steps_per_eval = 0;
  std::int64_t steps_per_checkpoint = 0;
  int keep_last = 5;
  std::int64_t keep_every = 0;
  std::string keep_best = "none";  // none, top_1, top_5, loss, ...
  bool use_async_checkpointing = false;
  std::int64_t log_step_count_steps = 1;
  bool skip_host_call = false;
  bool log_every_steps = false;
  bool epoch_lines = false;
  std::int64_t profile_every_n_steps = 0;
  double profile_every_n_seconds = 0;
  std::int64_t tpu_profile_duration = 2000;  // ms
  double stop_at_top_1 = 0;

  // The optimizer.
  std::string optimizer = "momentum";  // momentum, lars, adam, adamw
  bool enable_lars = false;
  double base_learning_rate = 0.1;
  double body_learning_rate_factor = 1;
  std::string learning_rate_scaling = "linear";      // linear, none
  std::string learning_rate_schedule = "reference";  // cosine, constant, ...
  double warmup_epochs = -1;
  double poly_rate = 0;
  double momentum = 0.9;
  bool use_nesterov = true;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 0;
  double weight_decay = 1e-4;
  std::string weight_decay_scope = "reference";  // reference, weights, all
  double label_smoothing = 0;
  double moving_average_decay = 0;
  bool export_moving_average = false;
  double clip_gradient_norm = 0;
  int gradient_accumulation_steps = 1;
};

}  // namespace infeed
