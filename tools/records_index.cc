#include <cstddef>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "records/byte_source.h"
#include "records/index_file.h"
#include "records/open_source.h"
#include "records/tfrecord_reader.h"
#include "tools/records_command.h"
#include "tools/records_verbs.h"

namespace infeed {
namespace {

// Makes the index files that are missing or stale and says which.
ExitCode IndexShards(const ShardPaths& shards) {
  std::size_t records = 0;
  for (const std::string& path : shards) {
    const std::unique_ptr<ByteSource> source = OpenSource(path);
    const ByteSource& shard = *source;
    if (const auto found = FindIndex(shard)) {
      records += found->size();
      std::cout << fmt::format("{}: {} records, the index is up to date\n",
                               path, found->size());
      continue;
    }
    const FrameOffsets offsets =
        ScanFrames(shard, TfrecordReaderOptions().max_record_bytes);
    records += offsets.size();
    std::cout << fmt::format("{}: {} records, wrote {}\n", path, offsets.size(),
                             SaveIndex(shard, offsets));
  }
  std::cout << fmt::format("{} records in {} shards\n", records, shards.size());
  return ExitCode::kDone;
}

}  // namespace

void AddIndexVerb(CLI::App& app, Command& command) {
  AddVerb(
      app, command,
      {.name = "index",
       .about = "Makes the index files of shards",
       .more =
           "Random access, a global shuffle and an exact resume need "
           "them.\n"
           "They lie in .infeed/ beside the shards, or in the user's cache\n"
           "where that cannot be written. Whoever reads shards makes "
           "missing\n"
           "ones too; this makes them beforehand.\n"
           "\n"
           "Example:\n"
           "  records index SHARDS\n"},
      IndexShards);
}

}  // namespace infeed
