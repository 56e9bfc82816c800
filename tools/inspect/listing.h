#pragma once

#include <cstdint>
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

struct CountedShard {
  std::string path;
  std::int64_t records = 0;
};

// The number of records of each shard. threads: as above. Throws as
// SummariseShard().
[[nodiscard]] std::vector<CountedShard> CountShards(
    const std::vector<std::string>& paths, int threads);

// A line for each shard, then the total.
[[nodiscard]] ReportTable CountReport(const std::vector<CountedShard>& shards);

}  // namespace infeed
