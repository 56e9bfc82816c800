#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "records/files/dataset_info.h"
#include "records/store/record_index.h"
#include "records/tfrecord/compression.h"
#include "tools/rewrite/record_stream.h"
#include "tools/shards/plan.h"

// Writes records of indexed shards into new shards, in any order.
namespace infeed {

struct NewShard {
  std::string name;  // its final name
  std::string path;  // where it is written
  ShardRange range;  // of the order's positions
};

struct CopyOptions {
  Compression compression = Compression::kNone;
  int threads = 0;  // 0: one per core
  // Bytes of the index, the records in flight and the buffers together.
  std::int64_t memory_limit = std::int64_t{256} << 20;
};

// A copy's use of memory. It may use fewer threads than requested, and each
// thread reads as many records at once as there is room for; the shards are the
// same.
struct CopyMemory {
  int threads = 1;
  std::int64_t block_bytes = 0;  // records that a thread reads at once
};

// Throws UsageError when memory_limit is too small for one thread and the
// largest record.
[[nodiscard]] CopyMemory PlanCopyMemory(const RecordIndex& index,
                                        std::size_t shards,
                                        const CopyOptions& options);

// Called with the bytes (frames included) and the number of records that were
// written or left out.
using OnRecords = std::function<void(std::int64_t bytes, std::int64_t records)>;

// Writes to each shard the records record_at(position) for the positions of its
// range. Records near each other are read together. Both functions are called
// from several threads at once. Returns the written shards; their counts
// exclude records that `bad` left out.
[[nodiscard]] std::vector<DatasetInfo::Shard> CopyRecords(
    const RecordIndex& index,
    const std::function<std::int64_t(std::int64_t)>& record_at,
    const std::vector<NewShard>& shards, const CopyOptions& options,
    BadRecords& bad, const OnRecords& on_records);

}  // namespace infeed
