#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tools/cli/report_table.h"
#include "tools/rewrite/record_stream.h"

// Compares two sets of shards record by record.
namespace infeed {

// A key with different lists in two Examples.
struct KeyDifference {
  enum class Kind { kOnlyInA, kOnlyInB, kOtherValues };
  std::string key;
  Kind kind = Kind::kOtherValues;
};

struct RecordDifference {
  // The places of the records; nullopt: the set has no such record.
  std::optional<DataError::Origin> a;
  std::optional<DataError::Origin> b;
  // The differing keys; empty if one of the records is not an Example.
  std::vector<KeyDifference> keys;
};

struct DiffOptions {
  // Whether the order matters. If false the sets are compared by hashes, 16
  // bytes per record, and records are not matched to each other.
  bool ordered = true;
  std::int64_t limit = 10;  // most differences to list
  bool skip_bad = false;    // leave out bad records; if false they are an error
  int threads = 0;          // if not ordered; 0: one per core
};

struct DiffReport {
  std::int64_t records_a = 0;
  std::int64_t records_b = 0;
  std::int64_t left_out = 0;     // bad records of both sets
  std::int64_t differences = 0;  // records that differ or have no counterpart
  std::vector<RecordDifference> first;
};

// Returns the keys whose lists differ, sorted; none if the Examples are equal
// up to the order of their maps. Throws DataError for bytes that are not an
// Example.
[[nodiscard]] std::vector<KeyDifference> CompareExamples(
    std::span<const std::byte> a, std::span<const std::byte> b);

// A 128-bit hash of a record's content, so that different records of a large
// set practically never have equal hashes. Do not store it: it may change with
// the version.
struct RecordHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const RecordHash&, const RecordHash&) = default;
};

// Returns the hash of an Example's features, which does not depend on the order
// of its map or the encoding of its lists; for other payloads the hash of the
// bytes.
[[nodiscard]] RecordHash HashRecord(std::span<const std::byte> payload);

// A set of shards, and a function that opens a shard; several may be open at
// once.
struct DiffSet {
  std::vector<std::string> paths;
  ShardOpener open;
};

// on_record is called for each record; if not ordered, from several threads.
// Throws IoError, DataError, and what on_record throws.
[[nodiscard]] DiffReport DiffRecords(const DiffSet& a, const DiffSet& b,
                                     const DiffOptions& options,
                                     const std::function<void()>& on_record);

// A line for each listed difference, then the totals.
[[nodiscard]] ReportTable DiffReportTable(const DiffReport& report);

}  // namespace infeed
