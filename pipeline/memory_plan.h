#pragma once

#include <cstdint>

#include "pipeline/options.h"

namespace infeed {

// What the pipeline's buffers can grow to, in bytes.
struct MemoryPlan {
  std::int64_t batches = 0;   // the pool
  std::int64_t records = 0;   // records in flight, each the longest there is
  std::int64_t decoding = 0;  // the workers' decoded images
  std::int64_t packed = 0;    // what compressed shards are read with

  [[nodiscard]] std::int64_t total() const {
    return batches + records + decoding + packed;
  }
};

// Records that are read but not yet packed: one that a worker is at and one
// that waits for it.
[[nodiscard]] int SamplesInFlight(const InputOptions& options);

// Works the sizes out. Batches and records are exact bounds. A worker's decoded
// image is an estimate: 12 bytes for each byte of the longest record, which is
// a picture at 2 bits a pixel as RGB (photographs have 2 to 8), but never more
// than jpeg_limits allow. Only the window that is used is decoded, so most
// workers stay far below. Throws UsageError with both numbers and what to lower
// when the sum is over memory_limit. packed: as packed_reading.h has it.
// Requires: options are checked.
[[nodiscard]] MemoryPlan PlanMemory(const InputOptions& options,
                                    std::int64_t longest_record,
                                    std::int64_t packed = 0);

}  // namespace infeed
