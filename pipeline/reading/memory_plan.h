#pragma once

#include <cstdint>
#include <string>

#include "pipeline/order/options.h"
#include "preprocess/jpeg/jpeg.h"

namespace infeed {

// What the plan has to know of a data set.
struct PlannedData {
  std::int64_t records = 0;
  std::int64_t longest_record = 0;    // bytes of its payload
  bool in_cloud = false;              // whether any shard is in a store
  std::int64_t compressed_bytes = 0;  // as compressed shards need it
};

// How memory_limit is shared out: what each part can grow to, in bytes.
struct MemoryPlan {
  std::int64_t limit = 0;       // of this process
  std::int64_t program = 0;     // code, libraries, allocators, threads' stacks
  std::int64_t index = 0;       // where the records lie
  std::int64_t batches = 0;     // the pool
  std::int64_t records = 0;     // records in flight, one a worker, the longest
  std::int64_t prefetch = 0;    // what is read ahead from stores
  std::int64_t decoding = 0;    // of all workers together
  std::int64_t compressed = 0;  // what compressed shards are read with
  std::int64_t cache = 0;       // encoded records that are kept

  // Of one worker's images that are decoded as a whole (progressive JPEGs, PNG
  // and others): those that need more are bad records.
  std::int64_t image = 0;

  [[nodiscard]] std::int64_t total() const {
    return program + index + batches + records + prefetch + decoding +
           compressed + cache;
  }
};

// Neighbouring slots that a worker fills one after the other: few enough that
// all workers have several such tasks of a batch. Requires: options are
// checked.
[[nodiscard]] int SlotsPerTask(const InputOptions& options);

// Shares out memory_limit / local_world_size. First comes what is needed
// anyhow, each the most that it can be; a worker's decoder needs as much as the
// longest record, and 12 MiB for rows of pixels and small whole images. What is
// left goes to larger images, as far as jpeg_limits allow it, and, with
// use_cache, all but a quarter of it to the cache. Throws UsageError with both
// numbers, the parts, and what to lower when the limit is too small. Requires:
// options are checked.
[[nodiscard]] MemoryPlan PlanMemory(const InputOptions& options,
                                    const PlannedData& data);

// The options with the limits of a worker's decoder under the plan.
[[nodiscard]] InputOptions PlannedOptions(InputOptions options,
                                          const MemoryPlan& plan);

// "memory: up to 231.0 MiB of 256.0 MiB: program 64.0 MiB, ...", in one line
// without its end.
[[nodiscard]] std::string MemoryText(const MemoryPlan& plan);

}  // namespace infeed
