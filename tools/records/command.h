#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/program_end.h"
#include "records/files/shard_set.h"
#include "records/store/key_guess.h"
#include "tools/cli/report_table.h"
#include "tools/cli/signals.h"
#include "tools/rewrite/writing_options.h"
#include "tools/shards/record_pass.h"

namespace CLI {
class App;
}

// Code shared by the verbs of the program `records`. Each verb adds itself to
// the command line in a file of its own; verbs.h lists the verbs.
namespace infeed {

using ShardPaths = std::vector<std::string>;

// The parsed command line. Must outlive the app that fills it.
struct Command {
  std::vector<std::string> paths;  // the verb's PATHs
  bool allow_missing_shards = false;
  std::string json;                 // a target, see AddJsonOption()
  int threads = 0;                  // for verbs without options of their own
  ShardSetFaults faults;            // of the PATHs, if the verb reports them
  std::function<ProgramEnd()> run;  // runs the verb; empty: none was given
};

// How a verb handles PATHs that are incomplete sets of shards.
enum class SetFaults {
  kRefused,   // an error without --allow_missing_shards
  kReported,  // part of its results, in Command::faults
  kNoted,     // printed on stderr: the verb handles shards one by one
};

struct VerbText {
  const char* name = "";
  const char* about = "";  // one line
  const char* more = "";   // after the flags in its --help: details, examples
  SetFaults faults = SetFaults::kRefused;
  // Whether a folder of class folders is passed to the verb unchanged.
  bool takes_image_folders = false;
  // Whether archives and image folders are refused: RefuseOtherFormats().
  bool takes_tfrecords_only = false;
};

// Adds a verb that takes PATHs, with the flags for shards in the cloud; `run`
// gets the shards that the PATHs name (ListShards()). Add options to the
// returned app, best bound to a struct in a shared_ptr that `run` holds.
CLI::App* AddVerb(CLI::App& app, Command& command, const VerbText& text,
                  std::function<ProgramEnd(const ShardPaths&)> run);

// Throws UsageError, with the command that makes TFRecords, if a shard is a tar
// or a zip.
void RefuseOtherFormats(const ShardPaths& shards);

// Adds --allow_missing_shards, bound to `allow`. MakeFaultsPolicy() returns the
// matching handler of faults, which prints the missing shards on stderr, or
// throws.
void AddMissingShardsOption(CLI::App* verb, bool& allow);
[[nodiscard]] OnShardSetFaults MakeFaultsPolicy(bool allow_missing_shards);

// Adds --threads, bound to `threads`: 0, the default, is one per core.
void AddThreadsOption(CLI::App* verb, int& threads);

// Adds --image_key and --label_key, bound to `keys`.
void AddKeyOptions(CLI::App* verb, RecordKeys& keys);

// The keys of the shards' records, found by FindKeys() in the first shard;
// `given` if that shard is damaged.
[[nodiscard]] RecordKeys KeysIn(const ShardPaths& shards,
                                const RecordKeys& given);

// Adds --json[=FILE], bound to `target`: "" without the flag, "-" without FILE.
// FILE must follow "=", so that a PATH is never taken for FILE.
void AddJsonOption(CLI::App* verb, std::string& target);

// Whether the target is stdout, so that no text may be printed there.
[[nodiscard]] bool IsJsonOnly(const std::string& json_target);

// Prints a report: text on stdout, and JSON into a file if requested; or JSON
// on stdout instead of the text.
void PutReport(const std::string& json_target, const ReportTable& report);

// Runs work that writes files, as RunInterruptibly() does, then prints the
// report that it returns. A dry run writes no JSON file.
[[nodiscard]] ProgramEnd PutReportOf(
    const WritingOptions& options,
    const std::function<ReportTable(const Interruption&)>& work);

// A function that prints the bad records of a pass over these shards, which
// must outlive it, on stderr.
[[nodiscard]] std::function<void(const ShardPass&)> BadRecordsPrinter(
    const ShardPaths& shards);

// The end of a verb that found this number of bad records.
[[nodiscard]] ProgramEnd EndAfter(std::int64_t bad_records);

// Removes from a command line's PATHs, and returns, files that a shell's
// "SHARDS/*" matches besides shards, recognized by name: hidden files and
// folders, and text files such as dataset.json, labels.txt, DALI's .idx and
// reports. Removes none if no other PATH would be left.
[[nodiscard]] std::vector<std::string> TakeSideFiles(
    std::vector<std::string>& paths);

// "skipped 3 files that are not shards, such as dataset.json"; empty for none.
[[nodiscard]] std::string SkippedText(const std::vector<std::string>& skipped);

}  // namespace infeed
