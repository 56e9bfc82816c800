#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tools/rewrite/record_stream.h"

// Compares two sets of shards record by record.
namespace infeed {

// What differs between two Examples.
struct KeyDifference {
  enum class Kind { kOnlyInA, kOnlyInB, kOtherValues };
  std::string key;
  Kind kind = Kind::kOtherValues;
};

struct RecordDifference {
  // Where the records are; nullopt where a set has no such record.
  std::optional<DataError::Origin> a;
  std::optional<DataError::Origin> b;
  // Of two records; empty when one of them is no Example.
  std::vector<KeyDifference> keys;
};

struct DiffOptions {
  // Whether the order matters. Without it the sets are compared by hashes of
  // 16 bytes a record, and which record stands against which is not known.
  bool ordered = true;
  std::int64_t limit = 10;  // differences that are named
  bool skip_bad = false;    // bad records are left out; else they are an error
  int threads = 0;          // without order; 0: one for each core
};

struct DiffReport {
  std::int64_t records_a = 0;
  std::int64_t records_b = 0;
  std::int64_t left_out = 0;     // bad records of both
  std::int64_t differences = 0;  // records that differ or have no counterpart
  std::vector<RecordDifference> first;
};

// Returns the keys whose lists differ, sorted; none when the Examples say the
// same, whatever the order of their maps. Throws DataError for bytes that are
// no Example.
[[nodiscard]] std::vector<KeyDifference> CompareExamples(
    std::span<const std::byte> a, std::span<const std::byte> b);

// A set of shards, and what opens one of them, for several at once.
struct DiffSet {
  std::vector<std::string> paths;
  RecordStream::Open open;
};

// on_record is called for each record, without order from several threads.
// Throws IoError, DataError, and what on_record throws.
[[nodiscard]] DiffReport DiffRecords(const DiffSet& a, const DiffSet& b,
                                     const DiffOptions& options,
                                     const std::function<void()>& on_record);

// A line for each difference that is named, and the totals last.
[[nodiscard]] std::string DiffReportText(const DiffReport& report);
[[nodiscard]] std::string DiffReportJson(const DiffReport& report);

}  // namespace infeed
