#include "records/store/read_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace infeed {
namespace {

// Whether a record may join the read before it, which begins no later.
bool Joins(const PlannedRead& read, const RecordLocation& location,
           const ReadPlanOptions& options) {
  return read.shard == location.shard &&
         location.offset - (read.offset + read.bytes) <=
             options.max_hole_bytes &&
         location.end() - read.offset <= options.max_read_bytes;
}

}  // namespace

std::vector<PlannedRead> PlanReads(std::span<const RecordLocation> locations,
                                   const ReadPlanOptions& options) {
  std::vector<std::size_t> order(locations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(locations[a].shard, locations[a].offset, a) <
           std::tuple(locations[b].shard, locations[b].offset, b);
  });
  std::vector<PlannedRead> reads;
  for (const std::size_t record : order) {
    const RecordLocation& location = locations[record];
    if (reads.empty() || !Joins(reads.back(), location, options)) {
      reads.push_back({location.shard, location.offset, 0, {}});
    }
    PlannedRead& read = reads.back();
    read.bytes = std::max(read.bytes, location.end() - read.offset);
    if (options.names_records) {
      read.records.push_back(record);
    }
  }
  return reads;
}

}  // namespace infeed
