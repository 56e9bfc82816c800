#pragma once

#include <string>

#include "pipeline/order/option.h"
#include "pipeline/order/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The flags for InputOptions, for programs that read data sets without
// training: one for each row of the input's table.
namespace infeed {

struct InputFlags {
  InputOptions options;      // set by the flags
  bool has_shuffle = false;  // the user gave an order
};

// Adds the flags that determine the batches, in the groups "Stream", "Images"
// and "Bad records".
void AddStreamFlags(CLI::App& app, InputFlags& flags);

// Adds the flags that affect only speed and memory, in the group "Performance",
// except the number of threads, which differs among programs.
void AddPerformanceFlags(CLI::App& app, InputFlags& flags);

// Returns the options of the flags. Requires: the app is parsed.
[[nodiscard]] InputOptions ResolveInput(const InputFlags& flags);

// Marks an option's flag as one that --help shows, or only --help_all, as the
// option's row says; returns the flag.
CLI::Option* MarkShown(const OptionInfo& option, CLI::Option* flag);

// The text after an option's name in --help: "true|false", its choices, which
// the completion offers too, or its unit, "STEPS"; "" if there is neither.
[[nodiscard]] std::string FlagTypeName(const OptionInfo& option,
                                       const OptionRef& field);

}  // namespace infeed
