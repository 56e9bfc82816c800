#pragma once

#include <string>
#include <vector>

#include "tools/rewrite/shard_repair.h"

namespace infeed {

// The results of `records repair`.
struct RepairReport {
  std::string output;                     // folder
  std::vector<std::string> inputs;        // the shards that were read
  std::vector<ShardRepairReport> shards;  // one for each input
};

// A line for each bad place, then the totals.
[[nodiscard]] std::string RepairReportText(const RepairReport& report);
[[nodiscard]] std::string RepairReportJson(const RepairReport& report);

}  // namespace infeed
