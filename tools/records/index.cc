#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tools/inspect/indexing.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

struct IndexFlags {
  IndexOptions index;
  std::string seek = "none";
};

ProgramEnd Index(const ShardPaths& shards, const std::string& json,
                 const IndexFlags& flags) {
  IndexOptions options = flags.index;
  options.seek = ParseChoice("--seek", flags.seek, kSeekEntries);
  const WritingOptions writing = {.dry_run = options.dry_run, .json = json};
  return PutReportOf(writing, [&](const Interruption& interruption) {
    options.on_record = [&] { interruption.Check(); };
    return IndexReport(IndexShards(shards, options), options.dry_run);
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
           "A tar of samples is a shard like others; for a folder of class\n"
           "folders, --seek makes one file beside it.\n"
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
       .faults = SetFaults::kNoted,
       .takes_image_folders = true},
      [flags, &command](const ShardPaths& shards) {
        return Index(shards, command.json, *flags);
      });
  CLI::Option* dali = index
                          ->add_flag("--dali{-}", flags->index.dali,
                                     "Write DALI's NAME.idx as well, beside "
                                     "the shards; --dali=DIR: there.")
                          ->option_text("[=DIR]");
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
  index
      ->add_option("--image_key", flags->index.image_key,
                   "Key of the JPEGs that get seek indexes.")
      ->capture_default_str()
      ->type_name("KEY");
  index->add_flag("--force", flags->index.force,
                  "Make the files again, even if valid ones exist.");
  index->add_flag("--dry_run", flags->index.dry_run,
                  "Only print what would be written.");
  AddThreadsOption(index, flags->index.threads);
  AddJsonOption(index, command.json);
}

}  // namespace infeed
