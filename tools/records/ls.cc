#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/choices.h"
#include "base/count_text.h"
#include "base/error.h"
#include "base/print_lines.h"
#include "records/bytes/byte_size.h"
#include "records/bytes/json_text.h"
#include "records/files/open_source.h"
#include "records/tfrecord/compression.h"
#include "tools/cli/parallel_for.h"
#include "tools/cli/text_table.h"
#include "tools/records/command.h"
#include "tools/records/verbs.h"
#include "tools/shards/check.h"
#include "tools/shards/summary.h"

namespace infeed {
namespace {

struct LsOptions {
  std::string json;  // target, see AddJsonOption()
  int threads = 0;
};

struct Listed {
  std::string path;
  std::optional<ShardSummary> summary;  // absent: records cannot be counted
  std::string error;                    // the reason
  std::string described;                // Compare()'s result
  bool is_missing = false;              // a missing shard of a set
};

// "same", "differs", or "-" if there is nothing to compare.
std::string_view Compare(const ExpectedShards& expected,
                         const std::string& path, const ShardSummary& summary) {
  const std::optional<DatasetInfo::Shard> shard = expected.Find(path);
  if (!shard) {
    return "-";
  }
  return shard->records == summary.records && shard->bytes == summary.bytes
             ? "same"
             : "differs";
}

Listed List(const std::string& path, const ExpectedShards& expected) {
  Listed listed = {.path = path, .summary = {}, .error = "", .described = "-"};
  try {
    listed.summary = SummariseShard(path);
    listed.described = Compare(expected, path, *listed.summary);
  } catch (const DataError& error) {
    listed.error = error.what();
  }
  return listed;
}

struct Totals {
  std::int64_t records = 0;
  std::int64_t bytes = 0;
};

Totals SumUp(const std::vector<Listed>& shards) {
  Totals totals;
  for (const Listed& shard : shards) {
    totals.records += shard.summary ? shard.summary->records : 0;
    totals.bytes += shard.summary ? shard.summary->bytes : 0;
  }
  return totals;
}

std::string ListText(const std::vector<Listed>& shards) {
  TextTable table(
      {">records", ">bytes", "packed", "index", "dataset.json", "shard"});
  for (const Listed& shard : shards) {
    if (!shard.summary) {
      table.Add({shard.is_missing ? "missing" : "damaged", "", "", "", "",
                 PathForMessages(shard.path)});
      continue;
    }
    const ShardSummary& summary = *shard.summary;
    table.Add({std::to_string(summary.records), FileSizeText(summary.bytes),
               std::string(CompressionName(summary.compression)),
               std::string(ChoiceName(summary.index, kIndexStates)),
               shard.described, PathForMessages(shard.path)});
  }
  const Totals totals = SumUp(shards);
  table.Add({std::to_string(totals.records), FileSizeText(totals.bytes), "", "",
             "", "total of " + CountText(shards.size(), "shard")});
  return table.Text();
}

std::string ListJson(const std::vector<Listed>& shards) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Listed& shard : shards) {
    Json json = {{"file", PathForMessages(shard.path)}};
    if (shard.summary) {
      json["records"] = shard.summary->records;
      json["bytes"] = shard.summary->bytes;
      json["compression"] = CompressionName(shard.summary->compression);
      json["index"] = ChoiceName(shard.summary->index, kIndexStates);
      json["dataset_json"] = shard.described;
    } else {
      json["error"] = shard.error;
    }
    list.push_back(std::move(json));
  }
  const Totals totals = SumUp(shards);
  const Json json = {{"shards", std::move(list)},
                     {"records", totals.records},
                     {"bytes", totals.bytes}};
  return JsonText(json, 2) + "\n";
}

// Inserts missing shards at their places in the list.
void AddMissing(const ShardSetFaults& faults, std::vector<Listed>& shards) {
  for (const auto& [path, records] : faults.missing) {
    shards.push_back({.path = path,
                      .summary = {},
                      .error = PathForMessages(path) + ": missing",
                      .described = "-",
                      .is_missing = true});
  }
  std::ranges::sort(shards, {}, &Listed::path);
}

ProgramEnd ListRecords(const ShardPaths& paths, const ShardSetFaults& faults,
                       const LsOptions& options) {
  const ExpectedShards expected(paths);
  std::vector<Listed> shards(paths.size());
  ParallelFor(paths.size(), options.threads,
              [&](std::size_t i) { shards[i] = List(paths[i], expected); });
  AddMissing(faults, shards);
  PutReport(
      options.json, [&] { return ListText(shards); },
      [&] { return ListJson(shards); });
  std::vector<std::string> problems = expected.problems();
  problems.insert(problems.end(), faults.mixed.begin(), faults.mixed.end());
  for (const Listed& shard : shards) {
    if (!shard.summary) {
      problems.push_back(shard.error);
    }
  }
  for (const std::string& problem : problems) {
    PrintLine("records: " + problem);
  }
  return problems.empty()
             ? ProgramEnd(ExitCode::kDone)
             : ProgramEnd(ExitCode::kDataError,
                          CountText(problems.size(), "problem") + " found");
}

}  // namespace

void AddLsVerb(CLI::App& app, Command& command) {
  const auto options = std::make_shared<LsOptions>();
  CLI::App* ls = AddVerb(
      app, command,
      {.name = "ls",
       .about = "Lists shards with their records, bytes and side files",
       .more =
           "Shows a shard's compression, whether its index is fresh, stale\n"
           "or missing, and whether dataset.json agrees with the shard.\n"
           "Missing shards of a set are listed and give exit code 3.\n"
           "Totals come last.\n"
           "\n"
           "Examples:\n"
           "  records ls SHARDS\n"
           "  records ls --json 's3://bucket/flowers/train-*'\n",
       .faults = SetFaults::kReported},
      [options, &command](const ShardPaths& shards) {
        return ListRecords(shards, command.faults, *options);
      });
  AddJsonOption(ls, options->json);
  AddThreadsOption(ls, options->threads);
}

}  // namespace infeed
