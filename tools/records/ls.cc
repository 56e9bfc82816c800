#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/count_text.h"
#include "base/error.h"
#include "base/print_lines.h"
#include "tools/inspect/listing.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

struct LsOptions {
  std::string json;  // target, see AddJsonOption()
  int threads = 0;
};

ProgramEnd ListRecords(const ShardPaths& paths, const ShardSetFaults& faults,
                       const LsOptions& options) {
  const ShardListing listing = ListShardFiles(paths, faults, options.threads);
  PutReport(options.json, ListingReport(listing));
  for (const std::string& problem : listing.problems) {
    PrintLine("records: " + problem);
  }
  return listing.problems.empty()
             ? ProgramEnd(ExitCode::kDone)
             : ProgramEnd(
                   ExitCode::kDataError,
                   CountText(listing.problems.size(), "problem") + " found");
}

}  // namespace

void AddLsVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<LsOptions>();
  CLI::App* ls = AddVerb(
      app, command,
      {.name = "ls",
       .about = "Lists shards with their records, bytes and side files",
       .more =
           "Shows a shard's compression, whether its index is fresh, stale\n"
           "or missing, and whether dataset.json agrees with the shard.\n"
           "Missing shards of a set are listed and give exit code 3.\n"
           "Totals come last.\n"
           "\n"
           "Examples:\n"
           "  records ls SHARDS\n"
           "  records ls --json 's3://bucket/flowers/train-*'\n",
       .faults = SetFaults::kReported},
      [options, &command](const ShardPaths& shards) {
        return ListRecords(shards, command.faults, *options);
      });
  AddJsonOption(ls, options->json);
  AddThreadsOption(ls, options->threads);
}

}  // namespace infeed
