#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/tfrecord/compression.h"
#include "tools/shards/seek_file_maker.h"

namespace infeed {

struct IndexOptions {
  bool force = false;      // make files anew that are there and fit
  bool from_dali = false;  // take the places of records from NAME.idx
  // Where to write DALI's NAME.idx: "" nowhere, kBeside, or a folder.
  std::string dali;
  // Whether and which seek indexes are made for the records, in a file beside
  // the shard.
  SeekEntries seek = SeekEntries::kNone;
  bool dry_run = false;
  std::function<void()> on_record = [] {};  // may throw, which ends it
};

// Beside the shards.
inline constexpr const char* kBeside = "-";

// What became of one shard.
struct IndexedShard {
  std::string path;
  // Others have none of DALI's and no seek indexes.
  Compression compression = Compression::kNone;
  std::int64_t records = 0;
  bool was_there = false;            // an index that fits
  std::string index;                 // written; empty when it was there already
  std::string dali;                  // written, or there already
  std::optional<MadeSeekFile> seek;  // where it was asked for
};

// The file of DALI's index for a shard.
[[nodiscard]] std::string DaliIndexPath(const std::string& shard,
                                        const std::string& dali);

// Makes the index files of one shard. Throws IoError, DataError for a shard
// or a NAME.idx that is wrong, and UsageError where a NAME.idx with other
// content would be replaced without `force`.
[[nodiscard]] IndexedShard IndexShard(const std::string& path,
                                      const IndexOptions& options);

// A line for each shard, and the totals last.
[[nodiscard]] std::string IndexReportText(
    const std::vector<IndexedShard>& shards, bool dry_run);
[[nodiscard]] std::string IndexReportJson(
    const std::vector<IndexedShard>& shards);

}  // namespace infeed
