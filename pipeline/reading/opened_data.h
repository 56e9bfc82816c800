#pragma once

#include "pipeline/options/options.h"
#include "pipeline/reading/memory_plan.h"
#include "pipeline/reading/packed_reading.h"
#include "records/store/record_index.h"
#include "records/store/record_store.h"
#include "records/store/seek_file.h"

namespace infeed {

// The data of a stream, opened by its options: the memory plan, and the stores
// that slots are filled from. Files are mapped (map_files) if they fit into
// half of the machine's memory.
//
// The index must outlive it. The constructor throws what PlanPackedReading()
// and PlanMemory() throw. Requires: options are checked and resolved.
struct OpenedData {
  OpenedData(const RecordIndex& index, const InputOptions& given);

  const PackedReading packed;
  const MemoryPlan memory;
  const InputOptions options;  // PlannedOptions()
  const RecordStore store;
  SeekStore seek_store;
};

}  // namespace infeed
