#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/tfrecord/compression.h"
#include "records/tfrecord/index_file.h"
#include "records/tfrecord/reader.h"
#include "tools/shards/record_pass.h"

// The results of `records verify`, as text and as JSON.
namespace infeed {

// Bytes that were skipped, and the records that they were, according to the
// index from before the damage.
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
};

struct VerifyReport {
  std::vector<VerifiedShard> shards;
  std::vector<std::string> missing;   // paths
  std::vector<std::string> problems;  // of the set, a line each
};

struct VerifyTotals {
  std::int64_t records = 0;
  std::int64_t bad = 0;
  std::int64_t passed_over_bytes = 0;
  std::int64_t lost_records = 0;  // as far as an index tells
  std::int64_t wrong_seek_indexes = 0;
  std::int64_t problems = 0;  // including missing shards and differences
};
[[nodiscard]] VerifyTotals TotalsOf(const VerifyReport& report);

// Whether nothing is bad.
[[nodiscard]] bool IsGood(const VerifyReport& report);

// The faults of one shard, one per line; "" for a good shard.
[[nodiscard]] std::string ShardText(const VerifiedShard& shard);

// The faults of the set, then "N records in M shards, B bad ...".
[[nodiscard]] std::string SummaryText(const VerifyReport& report);

// The whole report as one JSON object. docs/records.md has the fields.
[[nodiscard]] std::string VerifyJson(const VerifyReport& report);

}  // namespace infeed
