#pragma once

#include <cstdint>

#include "pipeline/options/options.h"
#include "pipeline/reading/memory_plan.h"
#include "records/store/packed_shard.h"
#include "records/store/record_index.h"

namespace infeed {

// The plan for reading compressed shards in an order that goes forward through
// them.
struct PackedReading {
  PackedStoreOptions store = {};
  // Most memory of the cursors and the records that they read ahead; 0: no
  // shard is compressed.
  std::int64_t memory_bytes = 0;
};

// Plans two shard cursors for each shard that the order interleaves (a shard's
// end is read beside the beginning of the next one), and room for the records
// that cursors pass before they are requested: with shuffle=window the records
// of one window, with none the samples in flight. With several ranks the
// cursors also pass the other ranks' records. Throws UsageError for an order
// that needs random access. Requires: options are checked.
[[nodiscard]] PackedReading PlanPackedReading(const RecordIndex& index,
                                              const InputOptions& options);

// The memory plan's input for this index and way of reading.
[[nodiscard]] PlannedData PlannedDataOf(const RecordIndex& index,
                                        const PackedReading& reading);

}  // namespace infeed
