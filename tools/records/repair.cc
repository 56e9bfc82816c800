#include <memory>

#include <CLI/CLI.hpp>

#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/rewrite/shard_repair.h"
#include "tools/rewrite/writing_options.h"

namespace infeed {

void AddRepairVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<SetRepairOptions>();
  CLI::App* repair = AddVerb(
      app, command,
      {.name = "repair",
       .about = "Recovers the good records of damaged shards",
       .more =
           "Writes the good records of each shard, in order, to a shard of\n"
           "the same name in the --output folder; the input is not changed.\n"
           "After damage it continues at the next frame whose two checksums\n"
           "are valid. All other bytes are copied to DIR/.infeed/NAME.bad;\n"
           "NAME.bad.json there lists their offsets, what is wrong and, if an\n"
           "index from before the damage exists, the lost records. A gzip or\n"
           "zlib shard is decompressed. Bad records do not change the exit\n"
           "code: see the report.\n"
           "\n"
           "Examples:\n"
           "  records repair SHARDS --output GOOD\n"
           "  records repair --decode 'SHARDS/train-*' --output GOOD\n"
           "  records repair --frames_only events.out.* --output GOOD\n",
       .faults = SetFaults::kNoted,
       .takes_tfrecords_only = true},
      [flags](const ShardPaths& shards) {
        return PutReportOf(flags->writing, [&](const Interruption& stop) {
          return RepairReport(RepairShards(shards, *flags, stop));
        });
      });
  AddWritingOptions(repair, flags->writing, "Folder for the good records.");
  AddThreadsOption(repair, flags->writing.threads);
  CLI::Option* decode = repair->add_flag(
      "--decode", flags->repair.decode,
      "Treat records whose image does not decode as bad, too.");
  repair
      ->add_flag("!--frames_only", flags->repair.parse_examples,
                 "Check checksums only: the records need not be Examples.")
      ->excludes(decode);
  repair
      ->add_flag("--json{-}", flags->writing.json,
                 "Print the report as JSON; --json=FILE: write it there. "
                 "[DIR/.infeed/repair.json]")
      ->option_text("[=FILE]");
}

}  // namespace infeed
