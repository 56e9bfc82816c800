#include <cstddef>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "records/files/output_check.h"
#include "records/files/shards.h"
#include "tools/cli/number_checks.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/record_diff.h"
#include "tools/rewrite/writing_options.h"
#include "tools/shards/progress.h"

namespace infeed {
namespace {

struct DiffFlags {
  std::string a;
  std::string b;
  bool unordered = false;
  DiffOptions diff;
};

constexpr const char* kDiffNotes =
    "A and B are files, folders, patterns, or lists of them with commas. The\n"
    "sets may differ in their shards and compression. Records are equal if\n"
    "their bytes are, or if they are Examples with the same features in any\n"
    "order. Prints the first differences: the records and the keys that\n"
    "differ. Exit code 0 when the sets are equal, 3 when they differ.\n"
    "\n"
    "Examples:\n"
    "  records diff OLD NEW\n"
    "  records diff --unordered SHARDS SHUFFLED\n"
    "  records diff --json=diff.json 'OLD/train-*' 'NEW/train-*'\n";

ProgramEnd Diff(const Command& command, const DiffFlags& flags) {
  const OnShardSetFaults policy =
      MakeFaultsPolicy(command.allow_missing_shards);
  const ShardPaths a = ListShards(flags.a, policy);
  const ShardPaths b = ListShards(flags.b, policy);
  DiffOptions options = flags.diff;
  options.ordered = !flags.unordered;
  ShardPaths all = a;
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<NamedOutput> outputs = {
      {.flag = "--json", .path = command.json, .may_be_stdout = true}};
  CheckOutputs(outputs, all);
  RequireOutputFolders(outputs);
  RefuseOtherFormats(all);
  ShardProgress progress(all);
  const DiffReport report = DiffRecords(
      {.paths = a, .open = progress.Opener()},
      {.paths = b,
       .open = [&](std::size_t i) { return progress.Open(a.size() + i); }},
      options, [&] { progress.AddRecords(1); });
  PutReport(command.json, DiffReportTable(report));
  return report.differences == 0
             ? ProgramEnd(ExitCode::kDone)
             : ProgramEnd(ExitCode::kDataError, "the data sets differ");
}

}  // namespace

void AddDiffVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<DiffFlags>();
  CLI::App* diff = app.add_subcommand(
      "diff", "Compares two sets of shards by their records");
  diff->footer(kDiffNotes);
  diff->add_option("A", flags->a, "first set")->required();
  diff->add_option("B", flags->b, "second set")->required();
  diff->add_flag("--unordered", flags->unordered,
                 "Ignore the order of the records.");
  diff->add_option("--limit", flags->diff.limit,
                   "Differences to print; with --unordered, of each set.")
      ->check(NonNegativeNumber())
      ->capture_default_str();
  AddMissingShardsOption(diff, command.allow_missing_shards);
  AddBadRecordOption(diff, flags->diff.skip_bad);
  AddThreadsOption(diff, flags->diff.threads);
  AddJsonOption(diff, command.json);
  diff->callback([&command, flags] {
    command.run = [&command, flags] { return Diff(command, *flags); };
  });
}

}  // namespace infeed
