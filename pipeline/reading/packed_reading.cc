#include "pipeline/reading/packed_reading.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rounding.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

void CheckOrder(const RecordIndex& index, Shuffle shuffle) {
  if (shuffle == Shuffle::kWindow || shuffle == Shuffle::kNone) {
    return;
  }
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    if (index.compression(i) != Compression::kNone) {
      throw UsageError(
          PathForMessages(index.shards()[i]) + ": is a " +
          std::string(CompressionName(index.compression(i))) +
          " stream, which has no random access: shuffle=" +
          std::string(ChoiceName(shuffle, kShuffles)) +
          " needs it. Give shuffle=window or none, or make shards that have "
          "it with `records reshard`");
    }
  }
}

// The most bytes that `records` neighbouring records of a shard take.
std::int64_t LargestStretch(const RecordIndex& index, std::int64_t first,
                            std::int64_t size, std::int64_t records) {
  std::int64_t bytes = 0;
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    bytes += index.at(first + i).length;
    if (i >= records) {
      bytes -= index.at(first + i - records).length;
    }
    largest = std::max(largest, bytes);
  }
  return largest;
}

// The sum of that number over the `shards` shards in which it is largest.
std::int64_t LargestStretches(const RecordIndex& index, std::int64_t records,
                              std::size_t shards) {
  std::vector<std::int64_t> bytes;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    if (index.compression(i) != Compression::kNone) {
      bytes.push_back(
          LargestStretch(index, first, index.shard_size(i), records));
    }
    first += index.shard_size(i);
  }
  std::sort(bytes.begin(), bytes.end(), std::greater<>());
  bytes.resize(std::min(bytes.size(), shards));
  std::int64_t sum = 0;
  for (const std::int64_t stretch : bytes) {
    sum += stretch;
  }
  return sum;
}

}  // namespace

PackedReading PlanPackedReading(const RecordIndex& index,
                                const InputOptions& options) {
  PackedReading reading;
  if (!index.any_compressed()) {
    return reading;
  }
  CheckOrder(index, options.shuffle);
  // The greatest distance of two records that are requested at the same time.
  const std::int64_t in_flight =
      std::int64_t{2} * options.threads * SlotsPerTask(options);
  const auto shards = static_cast<std::int64_t>(index.shards().size());
  std::int64_t at_once = 1;
  std::int64_t stretch = in_flight;
  if (options.shuffle == Shuffle::kWindow) {
    // The last window may have fewer shards, and then takes more records of
    // each.
    at_once = std::min<std::int64_t>(options.window_shards, shards);
    const std::int64_t last = (shards - 1) % at_once + 1;
    reading.store.near_records =
        CeilDiv<std::int64_t>(options.window_records, last);
    stretch = CeilDiv<std::int64_t>(options.window_records, at_once);
  } else {
    reading.store.near_records = in_flight;
  }
  if (options.world_size > 1) {  // Other ranks' records.
    stretch = 2 * stretch + options.batch_size;
  }
  // The ends of some shards are read while the next shards begin.
  const std::int64_t cursors = 2 * at_once;
  reading.store.max_open_shards = static_cast<std::size_t>(cursors);
  reading.store.max_passed_bytes =
      LargestStretches(index, stretch, static_cast<std::size_t>(at_once)) +
      in_flight * index.max_length();
  reading.memory_bytes =
      reading.store.max_passed_bytes +
      (cursors + options.threads) * (kPackedCursorBytes + index.max_length());
  return reading;
}

PlannedData PlannedDataOf(const RecordIndex& index,
                          const PackedReading& reading) {
  return {.records = index.size(),
          .longest_record = index.max_length(),
          .in_cloud = std::ranges::any_of(index.shards(), IsUrl),
          .compressed_bytes = reading.memory_bytes};
}

}  // namespace infeed
