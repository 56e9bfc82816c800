#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tools/inspect/listing.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {

void AddCountVerb(CLI::App& app, Command& command) {
  CLI::App* count = AddVerb(
      app, command,
      {.name = "count",
       .about = "Prints the number of records, by shard and in total",
       .more = "Payloads are skipped; an index makes it instant. Compressed\n"
               "shards are unpacked. The last line is \"total N\".\n"
               "\n"
               "Examples:\n"
               "  records count SHARDS | tail -1\n"
               "  records count --json 'SHARDS/train-*' | jq .total\n"},
      [&command](const ShardPaths& shards) {
        PutReport(command.json,
                  CountReport(CountShards(shards, command.threads)));
        return ExitCode::kDone;
      });
  AddJsonOption(count, command.json);
  AddThreadsOption(count, command.threads);
}

}  // namespace infeed
