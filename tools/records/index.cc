#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/files/open_source.h"
#include "tools/cli/interruption.h"
#include "tools/cli/parallel_for.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/shards/indexer.h"

namespace infeed {
namespace {

struct IndexFlags {
  IndexOptions index;
  std::string seek = "none";
  int threads = 0;
  std::string json;
};

// With one folder for all DALI indexes, shards of different folders must have
// different names.
void CheckDaliFolder(const ShardPaths& shards, const IndexOptions& options) {
  if (options.dali.empty() || options.dali == kBeside) {
    return;
  }
  std::set<std::string> paths;
  for (const std::string& shard : shards) {
    if (!paths.insert(DaliIndexPath(shard, options.dali)).second) {
      throw UsageError(shard +
                       ": another shard has the same name, and their indexes "
                       "would collide: index them into separate folders");
    }
  }
  if (!options.dry_run && !IsUrl(options.dali)) {
    MakeFolder(options.dali);
  }
}

ExitCode IndexShards(const ShardPaths& shards, const IndexFlags& flags) {
  CheckDaliFolder(shards, flags.index);
  return RunInterruptibly(
      "records", kNothingIsLeft, [&](const Interruption& interruption) {
        std::vector<IndexedShard> indexed(shards.size());
        IndexOptions options = flags.index;
        options.seek = SeekEntriesNames().at(flags.seek);
        options.on_record = [&] { interruption.Check(); };
        ParallelFor(shards.size(), flags.threads, [&](std::size_t i) {
          interruption.Check();
          indexed[i] = IndexShard(shards[i], options);
        });
        PutReport(
            flags.json,
            [&] { return IndexReportText(indexed, flags.index.dry_run); },
            [&] { return IndexReportJson(indexed); });
        return ExitCode::kDone;
      });
}

}  // namespace

void AddIndexVerb(CLI::App& app, Command& command) {
  const auto flags = std::make_shared<IndexFlags>();
  CLI::App* index = AddVerb(
      app, command,
      {.name = "index",
       .about = "Makes the index files of shards",
       .more =
           "Random access, a global shuffle and an exact resume need them.\n"
           "They are in .infeed/ beside the shards, or in the user's cache if\n"
           "that folder cannot be written. Programs that read shards make\n"
           "missing ones, too; this makes them beforehand. Valid files are\n"
           "kept. Compressed shards get no DALI index and no seek indexes.\n"
           "\n"
           "Examples:\n"
           "  records index SHARDS\n"
           "  records index --dali SHARDS          NAME.idx beside each shard\n"
           "  records index --dali=DIR SHARDS      DIR/NAME.idx\n"
           "  records index --from_dali SHARDS     checks NAME.idx, makes "
           "ours\n"
           "  records index --seek SHARDS          seek indexes of JPEGs "
           "whose\n"
           "      records have none: windows of them decode faster\n",
       .faults = SetFaults::kNoted},
      [flags](const ShardPaths& shards) {
        return IndexShards(shards, *flags);
      });
  CLI::Option* dali = index->add_flag(
      "--dali{-}", flags->index.dali,
      "Write DALI's NAME.idx as well, beside the shards; --dali=DIR: there.");
  index
      ->add_flag("--from_dali", flags->index.from_dali,
                 "Take the places of records from NAME.idx beside the shards, "
                 "checked against the shards.")
      ->excludes(dali);
  index
      ->add_flag("--seek{rows}", flags->seek,
                 "Make seek indexes for JPEGs, in a file beside each shard: of "
                 "rows, or with every 8th or 4th MCU as well; records that "
                 "hold one keep it.")
      ->check(CLI::IsMember({"rows", "8", "4"}))
      ->option_text("[=rows|8|4]");
  index->add_flag("--force", flags->index.force,
                  "Make the files again, even if valid ones exist.");
  index->add_flag("--dry_run", flags->index.dry_run,
                  "Only print what would be written.");
  AddThreadsOption(index, flags->threads);
  AddJsonOption(index, flags->json);
}

}  // namespace infeed
