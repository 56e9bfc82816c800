#pragma once

#include "pipeline/options/options.h"
#include "records/store/packed_shard.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"

namespace infeed {

// How the records of a stream are read. Files are mapped (map_files) if they
// fit into half of the machine's memory. Requires: options are checked.
[[nodiscard]] RecordStoreOptions StoreOptionsOf(
    const RecordIndex& index, const InputOptions& options,
    const PackedStoreOptions& packed = {});

}  // namespace infeed
