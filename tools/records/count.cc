#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "tools/inspect/listing.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"

namespace infeed {
namespace {

struct CountOptions {
  std::string json;  // target, see AddJsonOption()
  int threads = 0;
};

}  // namespace

void AddCountVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<CountOptions>();
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
      [options](const ShardPaths& shards) {
        PutReport(options->json,
                  CountReport(CountShards(shards, options->threads)));
        return ExitCode::kDone;
      });
  AddJsonOption(count, options->json);
  AddThreadsOption(count, options->threads);
}

}  // namespace infeed
