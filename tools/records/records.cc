#include "tools/records/records.h"

#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/print_lines.h"
#include "tools/cli/flags.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

constexpr const char* kAbout =
    "Inspects, repairs and reshapes TFRecord shards, without TensorFlow; the "
    "verbs that only read take tars of samples and zips of images, too. A PATH "
    "is a file, a folder, a quoted pattern, or a URL of these (http, https, "
    "s3, gs). Folders and patterns mean files named -NNNNN-of-NNNNN, "
    ".tfrecord, "
    ".tar or .zip only, so side files are never read as shards.";

constexpr const char* kExamples =
    "Examples:\n"
    "  records ls SHARDS\n"
    "  records cat --limit 3 'SHARDS/train-*'\n"
    "  records verify --decode SHARDS\n"
    "  records stats --html stats.html SHARDS\n"
    "  records reshard SHARDS --output NEW --shards 64\n"
    "\n"
    "records VERB --help explains a verb.\n"
    "\n"
    "Exit codes: 0 done, 1 runtime error, 2 usage, 3 bad data.\n";

std::string ListVerbs(const CLI::App& app) {
  std::string names;
  for (const CLI::App* verb : app.get_subcommands({})) {
    names.append(names.empty() ? "" : ", ").append(verb->get_name());
  }
  return names;
}

}  // namespace

ProgramEnd Records(int argc, char** argv) {
  CLI::App app(kAbout);
  Command command;
  app.footer(kExamples);
  app.require_subcommand(0, 1);
  for (auto* const add :
       {AddLsVerb, AddCountVerb, AddCatVerb, AddHeadVerb, AddVerifyVerb,
        AddStatsVerb, AddExtractVerb, AddIndexVerb, AddRepairVerb,
        AddReshardVerb, AddMergeVerb, AddSplitVerb, AddDiffVerb}) {
    add(app, command);
  }
  if (!ParseFlags(app, argc, argv)) {
    return ExitCode::kDone;
  }
  if (!command.run) {
    throw UsageError("give a verb: " + ListVerbs(app) + " (see --help)");
  }
  if (const std::string note = SkippedText(TakeSideFiles(command.paths));
      !note.empty()) {
    PrintLine("records: " + note);
  }
  return command.run();
}

}  // namespace infeed
