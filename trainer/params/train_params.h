#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/choices.h"
#include "pipeline/options/options.h"
#include "pipeline/order/selection_choice.h"
#include "trainer/model/optimizer_options.h"
#include "trainer/model/options.h"

namespace infeed {

// Least number of batches in the pool of a training input: one is in use, one
// may be on its way to a GPU, and others are filled meanwhile.
inline constexpr int kLeastBatches = 4;

// Views of an image in an evaluation: its centre, that and its mirror image,
// the centre and the corners, or these five and their mirror images.
inline constexpr Choices<int, 4> kEvalCrops = {
    {{"1", 1}, {"2", 2}, {"5", 5}, {"10", 10}}};

// The value of loss_scale for a dynamic scale.
inline constexpr std::string_view kAutoLossScale = "auto";

// The parameters of a run; the table in table.cc has the reference driver's
// name, the range and the description of each. Where the table has a text for
// "not given", 0 or "" means that, and ResolveDefaults() sets the value from
// the data.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): by meaning.
struct TrainParams {
  // Without num_classes, seed, rank and drop_block's groups and train_steps,
  // which MakeModelOptions() sets.
  ModelOptions model = {.drop_block = {.keep_prob = 0}};
  std::string dropblock_groups;
  int batch_norm_group = 1;  // ranks; 0: all
  std::optional<Precision> precision = {};
  std::string loss_scale = std::string(kAutoLossScale);
  GraphReplay cuda_graph = GraphReplay::kTrue;
  bool deterministic = false;
  Normalization normalization = Normalization::kImagenet;
  std::string resnet_checkpoint;  // initial weights

  // The training's input: rank and what depends on the machine are set later.
  InputOptions input = {.batch_size = 0, .batches_in_pool = kLeastBatches};
  SelectionChoice selection;  // of the training's records
  std::int64_t num_train_images = 0;
  std::int64_t num_eval_images = 0;
  std::string eval_split = "auto";
  bool allow_missing_shards = false;
  int eval_batch_size = 0;
  bool eval_live_weights = false;
  int eval_crops = 1;  // one of kEvalCrops
  std::string image_size_schedule;
  bool data_on_device = false;

  // Length of the run; intervals of evaluations, checkpoints and logs.
  std::int64_t train_steps = 0;
  double train_epochs = 0;
  std::int64_t iterations_per_loop = 0;
  std::int64_t steps_per_eval = 0;
  std::int64_t steps_per_checkpoint = 0;
  int keep_last = 5;
  std::int64_t keep_every = 0;
  std::string keep_best = "none";
  bool use_async_checkpointing = false;
  std::int64_t log_step_count_steps = 1;
  bool skip_host_call = false;
  bool epoch_lines = false;
  std::int64_t profile_every_n_steps = 0;
  std::int64_t tpu_profile_duration = 2000;  // ms
  double stop_at_top_1 = 0;
  std::string early_stop;

  // Without seed and the learning rate's decay_epochs and numbers of images and
  // steps, which MakeOptimizerOptions() and ResolveDefaults() set.
  OptimizerOptions optimizer;
  std::string learning_rate_decay_epochs;
  std::string plateau = "loss:10";
  bool enable_lars = false;  // the reference's name for OptimizerKind::kLars
  // A file, or kBalanced; ResolveClassWeights() sets the loss's class_weights.
  std::string loss_class_weights;
  std::string distill_from;   // the teacher's model_dir or weights; "": none
  std::string distill_model;  // the network of weights alone
  // The network of distill_from, which FindTeacher() sets.
  std::optional<ModelOptions> teacher = {};
  bool export_moving_average = false;

  // By either of its two names.
  [[nodiscard]] OptimizerKind optimizer_kind() const {
    return enable_lars ? OptimizerKind::kLars : optimizer.kind;
  }
};

}  // namespace infeed
