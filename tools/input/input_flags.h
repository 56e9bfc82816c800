#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/options/option.h"
#include "pipeline/options/options.h"
#include "pipeline/order/selection_choice.h"
#include "pipeline/remote/rpc.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The flags for InputOptions, one for each row of the input's table, and those
// around them, for programs that read data sets.
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

// Adds the flags that select an epoch's records, in the group "Selection".
void AddSelectionFlags(CLI::App& app, SelectionChoice& choice);

// Adds --PREFIXtls_cert, --PREFIXtls_key and --PREFIXtls_ca: the files with
// which a trainer and its input workers identify themselves to each other.
void AddWorkerTlsFlags(CLI::App& app, const std::string& prefix,
                       TlsFiles& files);

// Adds --view, which may be given more than once.
void AddViewFlag(CLI::App& app, std::vector<std::string>& texts);

// Adds the views of such texts, NAME=VALUE,NAME=VALUE, to options whose other
// flags are set (MakeView()). Throws UsageError that names the text.
void AddViews(std::span<const std::string> texts, InputOptions& options);

}  // namespace infeed
