#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/files/shard_set.h"
#include "records/store/key_guess.h"
#include "records/tfrecord/compression.h"
#include "records/tfrecord/index_file.h"
#include "tools/cli/report_table.h"
#include "tools/shards/record_pass.h"

// Checks every record of a set of shards, and the set.
namespace infeed {

struct VerifyOptions {
  bool parse_examples = true;
  bool decode = false;       // decode every image completely
  bool dataset_json = true;  // compare with it if present
  RecordKeys keys = {};
  int threads = 0;  // 0: one per core
  // The paths as given by the user, and what they lack as a set of shards.
  std::vector<std::string> named = {};
  ShardSetFaults faults = {};
  bool allow_missing_shards = false;
};

// Skipped bytes, and the records that they contained according to the index
// from before the damage.
struct LostBytes {
  Gap gap;
  std::optional<RecordRange> records;
};

struct VerifiedShard {
  std::string path;
  std::int64_t records = 0;  // bad ones included
  std::int64_t bytes = 0;    // of the file
  std::uint32_t crc32c = 0;  // of the file; 0 if not needed
  Compression compression = Compression::kNone;
  std::vector<DamagedRecord> bad;
  std::vector<DamagedRecord> seek;  // good records with a wrong seek index
  std::vector<LostBytes> lost;
  std::vector<std::string> differences;  // from dataset.json
  std::vector<std::string> notes;        // RecordCursor::notes()
  // Of all this; the text lists the faults and the notes, one per line.
  ReportTable report;
};

struct VerifyReport {
  std::vector<VerifiedShard> shards;
  std::vector<std::string> missing;   // paths
  std::vector<std::string> problems;  // of the set, a line each
};

// Calls `finished` for each shard when it is done, in the order of the paths.
// Throws IoError.
[[nodiscard]] VerifyReport VerifyShards(
    const std::vector<std::string>& shards, const VerifyOptions& options,
    const std::function<void(const VerifiedShard&)>& finished);

// The text has the faults of the set and the totals, without the shards.
// docs/records.md has the fields of the JSON.
[[nodiscard]] ReportTable SetReport(const VerifyReport& report);

// "2 bad records, 1 problem of the set"; "" if everything is good.
[[nodiscard]] std::string FaultsText(const VerifyReport& report);

// The bad records of a shard; a line of the text is "PATH: record N at byte O:
// REASON".
[[nodiscard]] ReportRow BadRecordsRow(const std::string& key,
                                      const std::string& path,
                                      const std::vector<DamagedRecord>& bad);

}  // namespace infeed
