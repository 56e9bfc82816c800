#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/byte_size.h"
#include "tools/cli/number_checks.h"
#include "tools/cli/parallel_for.h"
#include "tools/inspect/image_extractor.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/shards/progress.h"
#include "tools/shards/record_pass.h"

namespace infeed {
namespace {

struct ExtractFlags {
  ExtractOptions options;
  std::int64_t limit = -1;  // records to read; -1: all
  std::string json;         // target, see AddJsonOption()
  int threads = 0;
};

// Rejects an output folder in which files might be overwritten by mistake.
void CheckOutput(const ExtractOptions& options) {
  MakeFolder(options.output);
  std::error_code ignored;
  if (!options.resume && !std::filesystem::is_empty(options.output, ignored)) {
    throw UsageError(options.output +
                     ": is not empty (give another --output, or --resume to "
                     "continue an earlier run)");
  }
}

// Passes all records to the visitors.
void Pass(const ShardPaths& shards, const ExtractFlags& flags,
          const RecordVisitors& visitors,
          const std::function<void(ShardPass)>& finished) {
  ShardProgress progress(shards);
  RecordPassOptions options = progress.Options();
  options.limit = flags.limit;
  PassOverRecords(shards, visitors, options, finished);
}

std::map<RecordPlace, std::string> PlanNames(const ShardPaths& shards,
                                             const ExtractFlags& flags) {
  RecordVisitors visitors;
  std::vector<PathCollector*> collectors;
  for (std::size_t i = 0; i < ThreadCount(flags.threads); ++i) {
    auto collector =
        std::make_unique<PathCollector>(shards, flags.options.split);
    collectors.push_back(collector.get());
    visitors.push_back(std::move(collector));
  }
  // The second pass reports bad records.
  Pass(shards, flags, visitors, [](const ShardPass&) {});
  std::vector<PlacedPath> paths;
  for (PathCollector* collector : collectors) {
    std::move(collector->paths().begin(), collector->paths().end(),
              std::back_inserter(paths));
  }
  return ResolveClashes(std::move(paths));
}

std::string SummaryText(const ExtractPlan& plan, std::size_t bad) {
  std::string text =
      fmt::format("{} images in {} folders, {}", plan.counts.written,
                  plan.folders.count(), FileSizeText(plan.counts.bytes));
  if (plan.counts.skipped > 0) {
    text += fmt::format(", {} existed", plan.counts.skipped);
  }
  return text + fmt::format(", {} bad\n", bad);
}

std::string SummaryJson(const ExtractPlan& plan, std::size_t bad) {
  const nlohmann::ordered_json json = {{"written", plan.counts.written.load()},
                                       {"skipped", plan.counts.skipped.load()},
                                       {"bytes", plan.counts.bytes.load()},
                                       {"renamed", plan.renamed.size()},
                                       {"folders", plan.folders.count()},
                                       {"bad", bad}};
  return json.dump(2) + "\n";
}

ExitCode ExtractImages(const ShardPaths& shards, const ExtractFlags& flags) {
  CheckOutput(flags.options);
  ExtractPlan plan;
  plan.shards = shards;
  plan.options = flags.options;
  plan.renamed = PlanNames(shards, flags);
  RecordVisitors writers;
  for (std::size_t i = 0; i < ThreadCount(flags.threads); ++i) {
    writers.push_back(std::make_unique<ImageWriter>(plan));
  }
  std::size_t bad = 0;
  Pass(shards, flags, writers, [&](const ShardPass& pass) {
    std::cerr << BadRecordsText(shards[pass.shard], pass.bad);
    bad += pass.bad.size();
  });
  PutReport(
      flags.json, [&] { return SummaryText(plan, bad); },
      [&] { return SummaryJson(plan, bad); });
  return bad > 0 ? ExitCode::kDataError : ExitCode::kDone;
}

constexpr const char* kExtractNotes =
    "Writes OUTPUT/CLASS/NAME: the class's synset, else its label, and the\n"
    "record's image/filename, else SHARD-RECORD.jpg. Images are not changed;\n"
    "packed pixels become PNGs. Of several records with one name all but the\n"
    "first get -2, -3, ... Bad records are reported on stderr and give exit\n"
    "code 3. Shards are read twice: names are planned first.\n"
    "\n"
    "Examples:\n"
    "  records extract --output images SHARDS\n"
    "  records extract --output images --split --resume SHARDS\n";

}  // namespace

void AddExtractVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<ExtractFlags>();
  CLI::App* extract =
      AddVerb(app, command,
              {.name = "extract",
               .about = "Writes the images back to folders of classes",
               .more = kExtractNotes},
              [flags](const ShardPaths& shards) {
                return ExtractImages(shards, *flags);
              });
  extract
      ->add_option("--output", flags->options.output,
                   "Folder to write to, new or empty.")
      ->required();
  extract->add_flag("--split", flags->options.split,
                    "Make a folder for each split: train, validation, test.");
  extract->add_flag("--resume", flags->options.resume,
                    "Skip files that exist with the right size.");
  extract
      ->add_option("--limit", flags->limit,
                   "Records to read, from the first. [all]")
      ->check(NonNegativeNumber());
  AddJsonOption(extract, flags->json);
  AddThreadsOption(extract, flags->threads);
}

}  // namespace infeed
