#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/shown_text.h"
#include "tools/inspect/verification.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

ProgramEnd VerifyRecords(const ShardPaths& shards, const Command& command,
                         VerifyOptions options) {
  options.keys = options.decode ? KeysIn(shards, options.keys) : RecordKeys();
  options.named = command.paths;
  options.faults = command.faults;
  options.allow_missing_shards = command.allow_missing_shards;
  const VerifyReport report =
      VerifyShards(shards, options, [&](const VerifiedShard& shard) {
        if (!IsJsonOnly(command.json)) {  // Print each shard when it is done.
          std::cout << ShownLines(RenderText(shard.report)) << std::flush;
        }
      });
  PutReport(command.json, SetReport(report));
  const std::string faults = FaultsText(report);
  return faults.empty() ? ProgramEnd(ExitCode::kDone)
                        : ProgramEnd(ExitCode::kDataError, faults);
}

constexpr const char* kVerifyNotes =
    "Reads every record, checks both checksums and parses its Example.\n"
    "Prints each bad record with file, record and byte offset, and continues\n"
    "at the next good one. If an index from before the damage exists, prints\n"
    "which records were lost. Shards are compared with the dataset.json\n"
    "beside them, and missing shards of a set are listed. Ends with a line\n"
    "\"N records in M shards, B bad\"; exit code 3 when something is bad.\n"
    "\n"
    "Examples:\n"
    "  records verify SHARDS\n"
    "  records verify --decode 'SHARDS/validation-*'\n"
    "  records verify --json=report.json SHARDS\n"
    "  records verify --frames_only MODEL/events.out.tfevents.*\n";

}  // namespace

void AddVerifyVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* verify =
      AddVerb(app, command,
              {.name = "verify",
               .about = "Checks every record, and prints the bad ones",
               .more = kVerifyNotes,
               .faults = SetFaults::kReported},
              [options, &command](const ShardPaths& shards) {
                return VerifyRecords(shards, command, *options);
              });
  CLI::Option* decode = verify->add_flag(
      "--decode", options->decode,
      "Decode every image as well, and compare its seek index with a new one.");
  verify
      ->add_flag("!--frames_only", options->parse_examples,
                 "Check checksums only: the records need not be Examples.")
      ->excludes(decode);
  verify->add_flag("!--no_dataset_json", options->dataset_json,
                   "Do not compare with dataset.json.");
  AddKeyOptions(verify, options->keys);
  AddJsonOption(verify, command.json);
  AddThreadsOption(verify, options->threads);
}

}  // namespace infeed
