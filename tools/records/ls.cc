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

ProgramEnd ListRecords(const ShardPaths& paths, const Command& command) {
  const ShardListing listing =
      ListShardFiles(paths, command.faults, command.threads);
  PutReport(command.json, ListingReport(listing));
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
      [&command](const ShardPaths& shards) {
        return ListRecords(shards, command);
      });
  AddJsonOption(ls, command.json);
  AddThreadsOption(ls, command.threads);
}

}  // namespace infeed
