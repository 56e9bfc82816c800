#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/model/options.h"
#include "trainer/params/label_facts.h"
#include "trainer/params/train_params.h"

namespace infeed {

// The layers above the defaults, lowest first, as the user gave them.
struct ParamLayers {
  std::string model_file = {};  // a trained model's parameters; "" for none
  std::string preset = {};      // its name; "" for none
  std::string config_file;      // a YAML file; "" for none
  std::vector<std::string> overrides;  // each --params_override
  // Own flags: name and text. Hyphens in names count as underscores.
  std::vector<std::pair<std::string, std::string>> flags;
};

// Parameters, and where each that is not a default came from: "the model",
// "preset tpu_v3", "config file", "--params_override", "flag" or "the data".
struct RunParams {
  TrainParams values;
  std::map<std::string, std::string, std::less<>> origins;
  // Why a parameter of the reference has no effect on this run, by its name.
  std::map<std::string, std::string, std::less<>> notes = {};
};

// The origin of what the data decides.
inline constexpr std::string_view kFromData = "the data";

// Batches of a training's input at least: the infeed holds the one in use and
// the one that comes next, while others are filled.
constexpr int kLeastBatches = 4;

// What is known of the data before a run. images: 0 when there are none.
struct DataFacts {
  std::int64_t train_images = 0;
  std::int64_t eval_images = 0;
  LabelFacts labels = {};
  bool on_gpu = false;  // where it runs; decides the default batch
  int ranks = 1;        // that train together
};

// Puts the layers on the defaults. Throws UsageError naming the parameter, its
// value and what it may be; for an unknown name the nearest known one. Throws
// IoError for a file that cannot be read. train_steps and train_epochs replace
// each other; both in one layer are an error, and so is what CheckTogether()
// refuses.
[[nodiscard]] RunParams ReadParams(const ParamLayers& layers);

// Fills in what was not given. Throws UsageError when a given value does not
// go with the data, naming both.
void ResolveDefaults(const DataFacts& facts, RunParams& params);

// Steps of an epoch: the images that do not fill a batch are a step of their
// own unless they are dropped, and where rank_share is strided as many come or
// go as let the ranks share them evenly. Requires: ResolveDefaults() was here.
[[nodiscard]] std::int64_t StepsOfEpoch(const TrainParams& values, int ranks);

// What kind of model the parameters name.
[[nodiscard]] ModelKind ModelKindOf(const TrainParams& params);

// "ResNet-50", "LeNet-5".
[[nodiscard]] std::string ModelName(const TrainParams& params);

// The parameters as YAML that a later run takes as --config_file, with where
// each value came from as a comment. One that is not given is a comment. URLs
// are without secrets, here and below.
[[nodiscard]] std::string ToYaml(const RunParams& params);

// Those lines of it that are no defaults, for people.
[[nodiscard]] std::string ChosenText(const RunParams& params);

}  // namespace infeed
