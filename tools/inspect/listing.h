#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/files/shard_set.h"
#include "tools/cli/report_table.h"
#include "tools/shards/summary.h"

namespace infeed {

struct ListedShard {
  std::string path;
  std::optional<ShardSummary> summary;  // absent: records cannot be counted
  std::string error;                    // the reason
  // dataset.json's records and bytes: "same", "differs", or "-" if it does not
  // list the shard.
  std::string described = "-";
  bool is_missing = false;  // a missing shard of a set
};

struct ShardListing {
  std::vector<ListedShard> shards;    // sorted by path
  std::vector<std::string> problems;  // a line each
};

// Lists shards, and the missing ones among their faults. threads: 0: one per
// core. Throws IoError.
[[nodiscard]] ShardListing ListShardFiles(const std::vector<std::string>& paths,
                                          const ShardSetFaults& faults,
                                          int threads);

// A table of the shards, and their totals.
[[nodiscard]] ReportTable ListingReport(const ShardListing& listing);

}  // namespace infeed
