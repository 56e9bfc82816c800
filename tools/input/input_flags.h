#pragma once

#include <string>

#include "pipeline/options/option.h"
#include "pipeline/options/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The flags for InputOptions, for programs that read data sets without
// training: one for each row of the input's table.
namespace infeed {

// Adds the flags that determine the batches, in the groups "Stream", "Images"
// and "Bad records"; parsing sets the options.
void AddStreamFlags(CLI::App& app, InputOptions& options);

// Adds the flags that affect only speed and memory, in the group "Performance",
// except the number of threads, which differs among programs.
void AddPerformanceFlags(CLI::App& app, InputOptions& options);

// Adds --shards, in place of --data_dir, and --allow_missing_shards.
void AddShardsFlags(CLI::App& app, std::string& shards,
                    bool& allow_missing_shards);

// Marks an option's flag as one that --help shows, or only --help_all, as the
// option's row says; returns the flag.
CLI::Option* MarkShown(const OptionInfo& option, CLI::Option* flag);

// The text after an option's name in --help: "true|false", its choices, which
// the completion offers too, or its unit, "STEPS"; "" if there is neither.
[[nodiscard]] std::string FlagTypeName(const OptionInfo& option,
                                       const OptionRef& field);

}  // namespace infeed
