#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "records/store/record_index.h"

namespace infeed {

struct ReadPlanOptions {
  // The largest gap between two records that is read along instead of splitting
  // the read.
  std::int64_t max_hole_bytes = std::int64_t{64} << 10;
  // Whether PlannedRead::records is filled.
  bool names_records = true;
  // Limit of one read, unless a single record is longer.
  std::int64_t max_read_bytes = std::int64_t{8} << 20;
};

// One positioned read that covers several records of a shard.
struct PlannedRead {
  std::int32_t shard = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  // Indices of the locations that it covers, in the order of their offsets.
  std::vector<std::size_t> records;
};

// Joins records that lie near each other into reads, ordered by shard and
// offset. A record may be listed more than once.
[[nodiscard]] std::vector<PlannedRead> PlanReads(
    std::span<const RecordLocation> locations,
    const ReadPlanOptions& options = {});

}  // namespace infeed
