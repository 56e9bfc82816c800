#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "records/byte_source.h"
#include "records/index_file.h"
#include "records/open_source.h"
#include "records/tfrecord_reader.h"
#include "tools/records_command.h"
#include "tools/records_verbs.h"

namespace infeed {
namespace {

ExitCode CountRecords(const ShardPaths& shards) {
  std::size_t total = 0;
  for (const std::string& path : shards) {
    const std::unique_ptr<ByteSource> source = OpenSource(path);
    const ByteSource& shard = *source;
    std::optional<FrameOffsets> offsets = FindIndex(shard);
    if (!offsets) {
      offsets = ScanFrames(shard, TfrecordReaderOptions().max_record_bytes);
    }
    std::cout << path << ' ' << offsets->size() << '\n';
    total += offsets->size();
  }
  std::cout << "total " << total << '\n';
  return ExitCode::kDone;
}

}  // namespace

void AddCountVerb(CLI::App& app, Command& command) {
  AddVerb(app, command,
          {.name = "count",
           .about = "Prints the number of records of each shard, and the total",
           .more = "Payloads are skipped; an index makes it instant. The last\n"
                   "line is \"total N\".\n"
                   "\n"
                   "Example:\n"
                   "  records count SHARDS | tail -1\n"},
          CountRecords);
}

}  // namespace infeed
