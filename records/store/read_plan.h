#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "records/store/record_index.h"

namespace infeed {

struct ReadPlanOptions {
  // Bytes between two records that are read along rather than passed over.
  std::int64_t max_hole_bytes = std::int64_t{64} << 10;
  // Whether reads say which records they cover.
  bool names_records = true;
  // Of one read, unless a single record is longer.
  std::int64_t max_read_bytes = std::int64_t{8} << 20;
};

// One positioned read that covers several records of a shard.
struct PlannedRead {
  std::int32_t shard = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  // Which of the locations it covers, by their places in the list; in the
  // order in which they lie in the shard.
  std::vector<std::size_t> records;
};

// Joins records that lie near each other into reads, ordered by shard and
// offset. A record may be asked for more than once.
[[nodiscard]] std::vector<PlannedRead> PlanReads(
    std::span<const RecordLocation> locations,
    const ReadPlanOptions& options = {});

}  // namespace infeed
