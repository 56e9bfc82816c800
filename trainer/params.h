#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace infeed {

// The parameters of a run, under the reference driver's names; param_table.cc
// says what each does and what it may be. 0 where the table has a rule for it
// means "not given": ResolveDefaults() fills it in from the data.
struct TrainParams {
  // The model.
  int resnet_depth = 50;
  int num_label_classes = 0;
  std::string precision = "auto";  // auto, bfloat16, float32

  // The data.
  std::int64_t num_train_images = 0;
  std::int64_t num_eval_images = 0;
  int train_batch_size = 0;
  int eval_batch_size = 0;
  int image_size = 224;
  std::string recipe = "tpu";  // tpu, plain
  std::string interpolation = "recipe";
  bool scaled_decode = false;
  std::string augment_name = "none";  // none, autoaugment, randaugment
  int randaug_num_layers = 2;
  int randaug_magnitude = 10;
  double random_erasing = 0;
  std::string shuffle = "global";  // global, window, reference, none
  int window_shards = 16;
  int window_records = 4096;
  std::uint64_t seed = 0;
  std::string on_bad_record = "replace";  // fail, replace, skip
  std::int64_t max_bad_records = -1;
  double max_bad_rate = 1;
  std::string bad_record_report;
  bool lenient = false;

  // What the input costs.
  std::string graph = "flow";  // flow, basic
  int num_parallel_calls = 0;
  int batches_in_pool = 4;  // kLeastBatches or more
  int prefetch_batches = 2;
  bool autotune = false;
  bool use_cache = false;
  std::int64_t memory_limit = std::int64_t{4} << 30;

  // How long, and how often what.
  std::int64_t train_steps = 0;
  double train_epochs = 0;
  std::int64_t iterations_per_loop = 0;
  std::int64_t steps_per_eval = 0;
  std::int64_t steps_per_checkpoint = 0;
  int keep_last = 5;
  std::int64_t log_step_count_steps = 1;
  double stop_at_top_1 = 0;

  // The optimizer.
  double base_learning_rate = 0.1;
  double momentum = 0.9;
  bool use_nesterov = true;
  double weight_decay = 1e-4;
  double label_smoothing = 0;
};

// The layers above the defaults, lowest first, as the user gave them.
struct ParamLayers {
  std::string config_file;             // a YAML file; "" for none
  std::vector<std::string> overrides;  // each --params_override
  // Own flags: name and text. Hyphens in names count as underscores.
  std::vector<std::pair<std::string, std::string>> flags;
};

// Parameters, and where each that is not a default came from: "config file",
// "--params_override", "flag" or "the data".
struct RunParams {
  TrainParams values;
  std::map<std::string, std::string, std::less<>> origins;
};

// Batches of a training's input at least: the infeed holds the one in use and
// the one that comes next, while others are filled.
constexpr int kLeastBatches = 4;

// What is known of the data before a run. images: 0 when there are none.
struct DataFacts {
  std::int64_t train_images = 0;
  std::int64_t eval_images = 0;
  int label_classes = 0;  // 0: the data does not say
  bool on_gpu = false;    // where it runs; decides the default batch
};

// Puts the layers on the defaults. Throws UsageError naming the parameter, its
// value and what it may be; for an unknown name the nearest known one. Throws
// IoError for a file that cannot be read. train_steps and train_epochs replace
// each other; both in one layer are an error.
[[nodiscard]] RunParams ReadParams(const ParamLayers& layers);

// Fills in what was not given. Throws UsageError when a given value does not
// go with the data, naming both.
void ResolveDefaults(const DataFacts& facts, RunParams& params);

// The parameters as YAML that a later run takes as --config_file, with where
// each value came from as a comment. One that is not given is a comment.
[[nodiscard]] std::string ToYaml(const RunParams& params);

}  // namespace infeed
