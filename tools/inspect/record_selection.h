#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "records/tfrecord/reader.h"

namespace infeed {

// A selection of records of a list of shards, numbered from 0 through all
// shards.
class RecordSelection {
 public:
  // All records from a number on.
  explicit RecordSelection(std::int64_t offset = 0);
  // "3", "10-12,3": Throws UsageError for anything else.
  explicit RecordSelection(std::string_view text);

  [[nodiscard]] bool Contains(std::int64_t number) const;
  // Whether every number from this one on is selected.
  [[nodiscard]] bool IsAllFrom(std::int64_t number) const;
  [[nodiscard]] bool IsNoneFrom(std::int64_t number) const;
  // The start of a listed range that lies beyond so many records, if any.
  [[nodiscard]] std::optional<std::int64_t> FindBeyond(
      std::int64_t records) const;

 private:
  struct Range {
    std::int64_t first = 0;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
  };
  std::vector<Range> ranges_;
};

// Calls on_record(path, record) for up to `limit` of the selected records, in
// order, and on_bad for unreadable ones, which count too; -1: no limit. In
// plain shards it seeks by their index; compressed shards are read from their
// beginning. Records are valid until on_record returns. Throws IoError, and at
// the end, unless the limit was reached, UsageError for a number or a range
// that lies beyond the last record.
void ForEachSelected(const std::vector<std::string>& paths,
                     const RecordSelection& selection, std::int64_t limit,
                     const std::function<void(const std::string& path,
                                              const Record& record)>& on_record,
                     const std::function<void(const DataError& error)>& on_bad);

}  // namespace infeed
