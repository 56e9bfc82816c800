#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/files/shard_set.h"
#include "tools/shards/record_pass.h"

namespace CLI {
class App;
}

// What the verbs of the program `records` share. Each verb adds itself to the
// command line from a file of its own; verbs.h lists them.
namespace infeed {

using ShardPaths = std::vector<std::string>;

// What the command line asked for. Must outlive the app that fills it.
struct Command {
  std::vector<std::string> paths;  // the PATHs of the verb
  bool allow_missing_shards = false;
  ShardSetFaults faults;          // of the PATHs, where the verb reports them
  std::function<ExitCode()> run;  // does it; empty when no verb was given
};

// What a verb does about PATHs that are not whole sets.
enum class SetFaults {
  kRefused,   // without --allow_missing_shards
  kReported,  // as its results, by Command::faults
  kNoted,     // on stderr: it looks at one shard after the other
};

struct VerbText {
  const char* name;
  const char* about;  // one line
  const char* more;   // follows the flags in its --help: details, examples
  SetFaults faults = SetFaults::kRefused;
};

// Adds a verb that takes PATHs, which `run` gets as the shards that they name,
// sorted, and the flags for those in the cloud. Options are added to what it
// returns, and are best bound to a struct in a shared_ptr that `run` holds.
CLI::App* AddVerb(CLI::App& app, Command& command, const VerbText& text,
                  std::function<ExitCode(const ShardPaths&)> run);

// Adds --allow_missing_shards, bound to `allow`; and what it means for the sets
// of a verb, which says on stderr what is missing.
void AddMissingShardsOption(CLI::App* verb, bool& allow);
[[nodiscard]] OnShardSetFaults FaultsPolicyOf(bool allow_missing_shards);

// Adds --threads, bound to `threads`: 0, the default, is one for each core.
void AddThreadsOption(CLI::App* verb, int& threads);

// Adds --json[=FILE], bound to `target`: "" without it, "-" without FILE. A
// value must follow "=", so that a PATH is never taken for the file to write.
void AddJsonOption(CLI::App* verb, std::string& target);

// Whether such a target leaves no place for text on stdout.
[[nodiscard]] bool IsJsonOnly(const std::string& json_target);

// Puts a report out: as text on stdout, as JSON into a file, or as JSON on
// stdout in place of the text.
void PutReport(const std::string& json_target,
               const std::function<std::string()>& text,
               const std::function<std::string()>& json);

// The lines of bad records: "PATH: record N at byte O: REASON".
[[nodiscard]] std::string BadRecordsText(const std::string& path,
                                         const std::vector<DamagedRecord>& bad);

// "a,b" of a list: how ListShards() takes several paths.
[[nodiscard]] std::string JoinWithCommas(const std::vector<std::string>& paths);

}  // namespace infeed
