#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

std::string CountsText(const ShardPaths& shards,
                       const std::vector<std::int64_t>& counts,
                       std::int64_t total) {
  std::string text;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    text += fmt::format("{} {}\n", ShownText(PathForMessages(shards[i])),
                        counts[i]);
  }
  return text + fmt::format("total {}\n", total);
}

std::string CountsJson(const ShardPaths& shards,
                       const std::vector<std::int64_t>& counts,
                       std::int64_t total) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    list.push_back(
        {{"file", PathForMessages(shards[i])}, {"records", counts[i]}});
  }
  const Json json = {{"shards", std::move(list)}, {"total", total}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ExitCode CountRecords(const ShardPaths& shards, const CountOptions& options) {
  std::vector<std::int64_t> counts(shards.size());
  ParallelFor(shards.size(), options.threads, [&](std::size_t i) {
    counts[i] = SummariseShard(shards[i]).records;
  });
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    total += count;
  }
  PutReport(
      options.json, [&] { return CountsText(shards, counts, total); },
      [&] { return CountsJson(shards, counts, total); });
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
