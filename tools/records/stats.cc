#include <cstddef>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "tools/inspect/dataset_stats_report.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

struct StatsFlags {
  std::string html_path;
  std::size_t samples = 24;  // images in the page
  std::size_t classes = 20;  // rows of classes in the text
  RecordKeys keys = {};
};

ProgramEnd ShowStats(const ShardPaths& shards, const Command& command,
                     const StatsFlags& options) {
  const StatsReport report =
      CollectStats(shards,
                   {.samples = options.html_path.empty() ? 0 : options.samples,
                    .threads = command.threads,
                    .keys = KeysIn(shards, options.keys)},
                   BadRecordsPrinter(shards));
  PutReport(command.json, StatsTable(report, options.classes));
  if (!options.html_path.empty()) {
    WriteFileAtomically(options.html_path, StatsHtml(report), kNamedByUser);
  }
  return EndAfter(CountBadRecords(report));
}

}  // namespace

void AddStatsVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<StatsFlags>();
  CLI::App* stats = AddVerb(
      app, command,
      {.name = "stats",
       .about = "Prints statistics of a set of records",
       .more =
           "Classes, sizes, bytes, kinds of JPEGs, missing keys, duplicates.\n"
           "Of records without images: what each feature holds, and the\n"
           "Python code that reads them.\n"
           "Reads only the headers of images. Bad records are reported on\n"
           "stderr and give exit code 3.\n"
           "\n"
           "Examples:\n"
           "  records stats SHARDS\n"
           "  records stats --html stats.html 'SHARDS/train-*'\n"
           "  records stats --json SHARDS | jq .jpeg.quality.median\n"},
      [options, &command](const ShardPaths& shards) {
        return ShowStats(shards, command, *options);
      });
  AddJsonOption(stats, command.json);
  stats
      ->add_option("--html", options->html_path,
                   "Page to write, with plots and some of the images.")
      ->type_name("FILE");
  stats
      ->add_option("--samples", options->samples,
                   "Images to show in the page. [24]")
      ->check(CLI::Range(0, 1000));
  stats
      ->add_option("--classes", options->classes,
                   "Classes to name in the text. [20]")
      ->check(CLI::Range(1, 1000000));
  AddKeyOptions(stats, options->keys);
  AddThreadsOption(stats, command.threads);
}

}  // namespace infeed
