#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pipeline/options/options.h"
#include "preprocess/jpeg/jpeg.h"

namespace infeed {

// Properties of a data set that the memory plan needs.
struct PlannedData {
  std::int64_t records = 0;
  std::int64_t longest_record = 0;    // bytes of the payload
  bool in_cloud = false;              // any shard is in an object store
  std::int64_t compressed_bytes = 0;  // memory for compressed shards
};

// The division of memory_limit: the most bytes that each part can take.
struct MemoryPlan {
  std::int64_t limit = 0;       // of this process
  std::int64_t program = 0;     // code, libraries, allocators, threads' stacks
  std::int64_t index = 0;       // offsets of the records
  std::int64_t batches = 0;     // the pool
  std::int64_t fields = 0;      // of the batches' records
  std::int64_t records = 0;     // in flight: the longest record per worker
  std::int64_t prefetch = 0;    // read ahead from object stores
  std::int64_t decoding = 0;    // of all workers together
  std::int64_t compressed = 0;  // for reading compressed shards
  std::int64_t seek_indexes = 0;  // found, until they are in files
  std::int64_t links = 0;         // slots that come from workers, on their way
  std::int64_t cache = 0;         // encoded records that are kept

  // For one worker's image that is decoded as a whole (progressive JPEG, PNG
  // and others); an image that needs more is a bad record.
  std::int64_t image = 0;

  [[nodiscard]] std::int64_t total() const {
    return program + index + batches + fields + records + prefetch + decoding +
           compressed + seek_indexes + links + cache;
  }
};

// Words of the scratch slot in which a worker prepares an image or a view for a
// batch of RGB bytes; 0 for other layouts.
[[nodiscard]] std::size_t ScratchWords(const InputOptions& options);

// Neighbouring slots per task, which one worker fills one after the other: few
// enough that every worker gets several tasks of a batch. Requires: options are
// checked.
[[nodiscard]] int SlotsPerTask(const InputOptions& options);

// The most ranges that all workers have at once: workers_in_flight, or as many
// as the pool's slots make, and 32. Requires: options are checked.
[[nodiscard]] int RangesInFlight(const InputOptions& options);

// Divides memory_limit / local_world_size. First come the required parts, each
// at its maximum; a worker's decoder needs as much as the longest record, its
// scratch slot, and 12 MiB for rows of pixels and small whole images. The rest
// goes to seek indexes that are found, to larger images, as far as a JPEG's
// limits allow, and, with use_cache, all but a quarter of it to the cache. When
// the limit is too small, throws UsageError with the limit, the need, its
// parts, and the options to lower. Requires: options are checked.
[[nodiscard]] MemoryPlan PlanMemory(const InputOptions& options,
                                    const PlannedData& data);

// The options with the limits of a worker's decoder under the plan.
[[nodiscard]] InputOptions PlannedOptions(InputOptions options,
                                          const MemoryPlan& plan);

// "memory: up to 231.0 MiB of 256.0 MiB: program 64.0 MiB, ...", one line,
// without a newline.
[[nodiscard]] std::string MemoryText(const MemoryPlan& plan);

}  // namespace infeed
