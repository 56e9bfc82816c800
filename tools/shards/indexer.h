#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/tfrecord/compression.h"
#include "tools/shards/seek_index_maker.h"

namespace infeed {

struct IndexOptions {
  bool force = false;      // replace existing files, even valid ones
  bool from_dali = false;  // read the records' offsets from NAME.idx
  // Where to write DALI's NAME.idx: "" (not at all), kBeside, or a folder.
  std::string dali;
  // The seek indexes to make for the records, in a file beside the shard.
  SeekEntries seek = SeekEntries::kNone;
  bool dry_run = false;
  std::function<void()> on_record = [] {};  // may throw, which ends the work
};

// IndexerOptions::dali for "beside the shards".
inline constexpr const char* kBeside = "-";

// The result of making a shard's seek file (records/store/seek_file.h).
struct MadeSeekFile {
  bool was_there = false;    // a valid one existed and was kept
  std::string path;          // written; empty: none
  std::int64_t indexed = 0;  // records with an entry in the file
  std::int64_t own = 0;      // records with an index of their own
};

// The result for one shard.
struct IndexedShard {
  std::string path;
  // Compressed shards get no DALI index and no seek indexes.
  Compression compression = Compression::kNone;
  std::int64_t records = 0;
  bool was_there = false;            // a valid index existed
  std::string index;                 // written; empty if it existed
  std::string dali;                  // written, or existing
  std::optional<MadeSeekFile> seek;  // if requested
};

// The path of DALI's index for a shard.
[[nodiscard]] std::string DaliIndexPath(const std::string& shard,
                                        const std::string& dali);

// Makes the index files of one shard. Throws IoError, DataError for an invalid
// shard or NAME.idx, and UsageError when a NAME.idx with other content would be
// replaced without `force`.
[[nodiscard]] IndexedShard IndexShard(const std::string& path,
                                      const IndexOptions& options);

// A line for each shard, then the totals.
[[nodiscard]] std::string IndexReportText(
    const std::vector<IndexedShard>& shards, bool dry_run);
[[nodiscard]] std::string IndexReportJson(
    const std::vector<IndexedShard>& shards);

}  // namespace infeed
