#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/bytes/byte_source.h"
#include "records/example/imagenet_example.h"
#include "records/store/file_records.h"
#include "records/store/record_index.h"
#include "records/tfrecord/compression.h"
#include "tools/cli/report_table.h"
#include "tools/shards/seek_index_maker.h"

// Makes the index files of shards.
namespace infeed {

struct MadeSeekFile {
  bool was_there = false;    // a valid one existed and was kept
  std::string path = {};     // written; empty: none
  std::int64_t indexed = 0;  // records with an entry in the file
  std::int64_t own = 0;      // records with an index of their own
};

// IndexOptions::dali for "beside the shards".
inline constexpr const char* kBesideShards = "-";

struct IndexOptions {
  bool force = false;      // replace existing files, even valid ones
  bool from_dali = false;  // read the records' offsets from NAME.idx
  // Where to write DALI's NAME.idx: "" (not at all), kBesideShards, or a
  // folder.
  std::string dali = {};
  // The seek indexes to make for the records, in a file beside the shard.
  SeekEntries seek = SeekEntries::kNone;
  std::string image_key{kImageKey};  // of the JPEGs
  bool dry_run = false;
  int threads = 0;                          // 0: one per core
  std::function<void()> on_record = [] {};  // may throw, which ends the work
};

struct IndexedShard {
  std::string path = {};
  RecordFormat format = RecordFormat::kTfrecord;
  // Compressed shards get no DALI index and no seek indexes.
  Compression compression = Compression::kNone;
  std::int64_t records = 0;
  bool was_there = false;            // a valid index existed
  std::string index;                 // written; empty if it existed
  std::string dali;                  // written, or existing
  std::optional<MadeSeekFile> seek;  // if requested
};

// Throws IoError, DataError for an invalid shard or NAME.idx, and UsageError
// when a NAME.idx with other content would be replaced without `force`, or two
// shards' NAME.idx would be one file.
[[nodiscard]] std::vector<IndexedShard> IndexShards(
    const std::vector<std::string>& shards, const IndexOptions& options);

// A line for each shard, then the totals.
[[nodiscard]] ReportTable IndexReport(const std::vector<IndexedShard>& shards,
                                      bool dry_run);

}  // namespace infeed
