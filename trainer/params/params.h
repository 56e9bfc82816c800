#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/order/epoch_batches.h"
#include "trainer/params/label_facts.h"
#include "trainer/params/train_params.h"

namespace infeed {

// The layers above the defaults, lowest first, as the user gave them.
struct ParamLayers {
  std::string model_file = {};   // a trained model's parameters; "" for none
  std::string preset = {};       // its name; "" for none
  std::string config_file = {};  // a YAML file; "" for none
  std::vector<std::string> overrides = {};  // each --params_override
  // Each --NAME=TEXT flag of a parameter. Hyphens in names count as
  // underscores.
  std::vector<std::pair<std::string, std::string>> flags = {};
};

// Parameters, and the origin of each value that is not a default: "the model",
// "preset cifar", "config file", "--params_override", "flag" or "the data".
struct RunParams {
  TrainParams values;
  std::map<std::string, std::string, std::less<>> origins;
  // Why a parameter of the reference has no effect on this run, by its name.
  std::map<std::string, std::string, std::less<>> notes = {};
  // Epochs that train_steps was computed from; 0: it was given.
  double asked_epochs = 0;
};

// The origins of values that follow from the data, and of a trained model's.
inline constexpr std::string_view kFromData = "the data";
inline constexpr std::string_view kFromModel = "the model";

// Whether this command line gives the parameter, by its flag or by
// --params_override.
[[nodiscard]] bool IsOnCommandLine(const RunParams& params,
                                   std::string_view name);

// Facts known before a run. Numbers of images: 0 when there are none.
struct DataFacts {
  std::int64_t train_images = 0;
  std::int64_t eval_images = 0;
  LabelFacts labels = {};
  bool on_gpu = false;  // the run's device: sets the default batch size
  int ranks = 1;        // processes that train together
};

// Applies the layers to the defaults. Throws UsageError naming the parameter,
// its value and the values allowed, or the nearest known name for an unknown
// one. Throws IoError for a file that cannot be read. train_steps and
// train_epochs replace each other; giving both in one layer is an error, and so
// is a combination that CheckTogether() rejects.
[[nodiscard]] RunParams ReadParams(const ParamLayers& layers);

// Sets the parameters that were not given. Throws UsageError when a given value
// does not fit the data or the ranks, naming both.
void ResolveDefaults(const DataFacts& facts, RunParams& params);

// ResolveDefaults() for fake data, with the reference's number of training
// images and classes where they are not given. An evaluation has ten batches.
void ResolveFakeData(bool on_gpu, int ranks, RunParams& params);

// The learning rate's options, with those that other parameters set. Their
// train_images are known after ResolveDefaults().
[[nodiscard]] LearningRateOptions RateOf(const TrainParams& params);

// How the run's epochs lie in its steps; each has at least one. Requires:
// ResolveDefaults() has been called.
[[nodiscard]] EpochBatches EpochsOf(const TrainParams& values, int ranks);

// "30 steps of 1024 images are 10.47 of the 15 epochs asked for; ..." where the
// images that do not fill batches are more than a hundredth of all; else empty.
[[nodiscard]] std::string MissedEpochsText(const RunParams& params);

// The normalization on the device; one-channel models use the gray one.
[[nodiscard]] Normalization NormalizationOf(const TrainParams& params);

// "ResNet-50", "LeNet-5", "resnext50_32x4d".
[[nodiscard]] std::string ModelName(const TrainParams& params);

// The parameters as YAML that a later run can read as --config_file, with the
// origin of each value as a comment. A parameter that is not given is written
// as a comment. Secrets are removed from URLs, here and in ChosenText().
[[nodiscard]] std::string ToYaml(const RunParams& params);

// The lines of ToYaml() whose values are not defaults, for people to read.
[[nodiscard]] std::string ChosenText(const RunParams& params);

}  // namespace infeed
