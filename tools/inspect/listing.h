#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.h"
#include "records/files/shard_set.h"
#include "records/store/file_records.h"
#include "records/tfrecord/compression.h"
#include "tools/cli/report_table.h"

namespace infeed {

inline constexpr Choices<IndexState, 3> kIndexStates = {
    {{"fresh", IndexState::kFresh},
     {"stale", IndexState::kStale},
     {"none", IndexState::kNone}}};

struct ShardSummary {
  std::int64_t records = 0;
  std::int64_t bytes = 0;  // of the file
  RecordFormat format = RecordFormat::kTfrecord;
  Compression compression = Compression::kNone;
  IndexState index = IndexState::kNone;
};

// Counts a shard's records in the fastest way: by its index, else by its frame
// headers, or, if it is compressed, by decompressing it. Throws IoError, and
// DataError for a broken frame or archive.
[[nodiscard]] ShardSummary SummariseShard(const std::string& path);

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
