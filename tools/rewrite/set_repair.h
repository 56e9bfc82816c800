#pragma once

#include <string>
#include <vector>

#include "tools/cli/interruption.h"
#include "tools/cli/report_table.h"
#include "tools/rewrite/shard_repair.h"
#include "tools/rewrite/writing_options.h"

// Repairs the shards of a set, each by itself (shard_repair.h).
namespace infeed {

struct SetRepairOptions {
  // Without a target of the report it is .infeed/repair.json in the output
  // folder.
  WritingOptions writing = {};
  RepairOptions repair = {};
};

struct RepairedSet {
  std::string output;  // the folder
  // With the names of the new shards; in a dry run without their contents.
  std::vector<ShardRepairReport> shards;
  bool is_plan = false;  // of a dry run
};

// Writes the good records of each shard to a shard of the same name in the
// folder options.writing.output, the other bytes to its .infeed, and a
// dataset.json if the input has one; all of them or nothing. Throws UsageError,
// IoError.
[[nodiscard]] RepairedSet RepairShards(const std::vector<std::string>& shards,
                                       const SetRepairOptions& options,
                                       const Interruption& interruption);

// A line for each bad place, then the totals; of a dry run, a line for each
// shard.
[[nodiscard]] ReportTable RepairReport(const RepairedSet& set);

}  // namespace infeed
