#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/options/option.h"
#include "pipeline/options/options.h"

// The one table of the input's options, by the names of pipeline_throughput's
// flags. train_resnet's parameters take their rows from here.
namespace infeed {

// What an option that is not at its default needs, for it to have an effect.
struct InputNeed {
  std::string_view others = {};  // "a|b": one of these options
  std::string_view values = {};  // with one of the values; empty: not at its
                                 // default, either
};

struct InputOption : OptionInfo {
  OptionRef (*at)(InputOptions& options);
  // Another value gives other batches: a saved stream is not resumed with it.
  bool affects_batches;
  // The state of a stream with the default does not name the option, as states
  // from before it do not.
  bool unnamed_at_default;
  // An evaluation during a training has the training's value, not the default.
  bool eval_inherits;
  InputNeed need = {};

  // A copy of the row with this column.
  [[nodiscard]] constexpr InputOption Needs(
      std::string_view others, std::string_view values = {}) const {
    InputOption row = *this;
    row.need = {.others = others, .values = values};
    return row;
  }
};

// Options that --help prints under one title.
struct InputOptionGroup {
  std::string_view title;
  std::span<const InputOption> options;
};

// "Stream", "Images", "Bad records" and "Performance".
[[nodiscard]] std::span<const InputOptionGroup> InputOptionGroups();

// The options of all groups.
[[nodiscard]] std::span<const InputOption> InputOptionTable();

// The options of the group "Images" but layout: those that a view can have for
// itself.
[[nodiscard]] std::vector<InputOption> ViewOptions();

// The option with this name. Requires: there is one.
[[nodiscard]] const InputOption& FindInputOption(std::string_view name);

// The options of an evaluation beside this training: those with eval_inherits,
// and the defaults of all others.
[[nodiscard]] InputOptions EvaluationOptions(InputOptions training);

// Throws UsageError naming the option whose number is out of its range.
void CheckInputRanges(const InputOptions& options);

// Throws UsageError naming an option that has no effect (InputOption::need).
// name: what a program calls an option.
void CheckInputNeeds(const InputOptions& options,
                     const std::function<std::string_view(const InputOption&)>&
                         name = &InputOption::name);

}  // namespace infeed
