#include "pipeline/reading/opened_data.h"

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "pipeline/memory/memory_limit.h"

namespace infeed {
namespace {

// TFRecords that stay in the page cache gain by being mapped. Larger data would
// not stay, and their pages are given back later if they are mapped. A cache
// reads each record once.
bool MapsFiles(const RecordIndex& index, const InputOptions& options) {
  if (!options.map_files || options.use_cache || !index.any_examples()) {
    return false;
  }
  std::int64_t bytes = 0;
  for (std::size_t shard = 0; shard < index.shards().size(); ++shard) {
    bytes += index.shard_bytes(shard);
  }
  try {
    return bytes <= MachineMemory() / 2;
  } catch (const IoError&) {  // Not known here: files are read.
    return false;
  }
}

RecordStoreOptions StoreOptionsOf(const RecordIndex& index,
                                  const InputOptions& options,
                                  const PackedStoreOptions& packed) {
  return {.verify_checksums = options.verify_checksums,
          .map_files = MapsFiles(index, options),
          .packed = packed,
          .image_key = StoreImageKey(options)};
}

}  // namespace

OpenedData::OpenedData(const RecordIndex& index, const InputOptions& given)
    : packed(PlanPackedReading(index, given)),
      memory(PlanMemory(given, PlannedDataOf(index, packed))),
      options(PlannedOptions(given, memory)),
      store(index, StoreOptionsOf(index, options, packed.store)),
      seek_store(index, SeekStore::kMaxOpen, options.image_key) {}

}  // namespace infeed
