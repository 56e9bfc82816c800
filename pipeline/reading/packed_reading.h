#pragma once

#include <cstdint>

#include "pipeline/order/options.h"
#include "pipeline/reading/memory_plan.h"
#include "records/store/packed_store.h"
#include "records/store/record_index.h"

namespace infeed {

// How compressed shards are read in an order that goes forward through them.
struct PackedReading {
  PackedStoreOptions store = {};
  // What cursors and records that were passed over can take; 0: no shard is
  // compressed.
  std::int64_t memory_bytes = 0;
};

// Works it out: a shard cursor for each shard that the order interleaves, and
// room for what they pass over before it is asked for. That is, with
// shuffle=window, the records of one window, as they lie in the shards; with
// none, the samples in flight. A rank of several passes over the others'
// records too. Throws UsageError for an order that needs random access.
// Requires: options are checked.
[[nodiscard]] PackedReading PlanPackedReading(const RecordIndex& index,
                                              const InputOptions& options);

// What the memory plan has to know of an index that is read so.
[[nodiscard]] PlannedData PlannedDataOf(const RecordIndex& index,
                                        const PackedReading& reading);

}  // namespace infeed
