#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/shown_text.h"
#include "records/files/open_source.h"
#include "tools/cli/parallel_for.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/shards/summary.h"

namespace infeed {
namespace {

struct CountOptions {
  std::string json;  // target, see AddJsonOption()
  int threads = 0;
};

ExitCode CountRecords(const ShardPaths& shards, const CountOptions& options) {
  std::vector<std::int64_t> counts(shards.size());
  ParallelFor(shards.size(), options.threads, [&](std::size_t i) {
    counts[i] = SummariseShard(shards[i]).records;
  });
  std::int64_t total = 0;
  std::vector<ReportTable> list;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string file = PathForMessages(shards[i]);
    list.push_back({{"file", file, ShownText(file)},
                    {"records", counts[i], fmt::format(" {}\n", counts[i])}});
    total += counts[i];
  }
  PutReport(options.json, {ListRow("shards", list),
                           {"total", total, fmt::format("total {}\n", total)}});
  return ExitCode::kDone;
}

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
        return CountRecords(shards, *options);
      });
  AddJsonOption(count, options->json);
  AddThreadsOption(count, options->threads);
}

}  // namespace infeed
