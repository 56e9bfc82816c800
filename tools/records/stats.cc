#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/own_files.h"
#include "records/bytes/byte_source.h"
#include "tools/cli/parallel_for.h"
#include "tools/inspect/dataset_stats.h"
#include "tools/inspect/dataset_stats_report.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/shards/progress.h"
#include "tools/shards/record_pass.h"

namespace infeed {
namespace {

struct StatsOptions {
  std::string json;  // target, see AddJsonOption()
  std::string html_path;
  std::size_t samples = 24;  // images in the page
  std::size_t classes = 20;  // rows of classes in the text
  int threads = 0;
  RecordKeys keys = {};
};

StatsReport Collect(const ShardPaths& shards, const StatsOptions& options) {
  StatsReport report = {.paths = shards, .shards = {}, .stats = {}};
  const std::size_t samples = options.html_path.empty() ? 0 : options.samples;
  const RecordKeys keys = KeysIn(shards, options.keys);
  RecordVisitors visitors;
  std::vector<StatsVisitor*> parts;
  for (std::size_t i = 0; i < ThreadCount(options.threads); ++i) {
    auto visitor = std::make_unique<StatsVisitor>(
        samples, ExampleKeys{.image = keys.image, .label = keys.label});
    parts.push_back(visitor.get());
    visitors.push_back(std::move(visitor));
  }
  ShardProgress progress(shards);
  RecordPassOptions pass_options = progress.Options();
  pass_options.image_key = keys.image;
  PassOverRecords(shards, visitors, pass_options, [&](ShardPass pass) {
    std::cerr << BadRecordsText(shards[pass.shard], pass.bad);
    report.shards.push_back(std::move(pass));
  });
  for (StatsVisitor* part : parts) {
    report.stats.Merge(std::move(part->stats()));
  }
  KeepSamples(report.stats.samples, samples);
  return report;
}

ProgramEnd ShowStats(const ShardPaths& shards, const StatsOptions& options) {
  const StatsReport report = Collect(shards, options);
  if (!options.html_path.empty()) {
    WriteFileAtomically(options.html_path, StatsHtml(report), kNamedByUser);
  }
  PutReport(
      options.json, [&] { return StatsText(report, options.classes); },
      [&] { return StatsJson(report); });
  return EndAfter(CountBadRecords(report));
}

}  // namespace

void AddStatsVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<StatsOptions>();
  CLI::App* stats = AddVerb(
      app, command,
      {.name = "stats",
       .about = "Prints statistics of a set of image records",
       .more =
           "Classes, sizes, bytes, kinds of JPEGs, missing keys, duplicates.\n"
           "Reads only the headers of images. Bad records are reported on\n"
           "stderr and give exit code 3.\n"
           "\n"
           "Examples:\n"
           "  records stats SHARDS\n"
           "  records stats --html stats.html 'SHARDS/train-*'\n"
           "  records stats --json SHARDS | jq .jpeg.quality.median\n"},
      [options](const ShardPaths& shards) {
        return ShowStats(shards, *options);
      });
  AddJsonOption(stats, options->json);
  stats->add_option("--html", options->html_path,
                    "Page to write, with plots and some of the images.");
  stats
      ->add_option("--samples", options->samples,
                   "Images to show in the page. [24]")
      ->check(CLI::Range(0, 1000));
  stats
      ->add_option("--classes", options->classes,
                   "Classes to name in the text. [20]")
      ->check(CLI::Range(1, 1000000));
  AddKeyOptions(stats, options->keys);
  AddThreadsOption(stats, options->threads);
}

}  // namespace infeed
