#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "records/store/record_index.h"
#include "tools/worker/worker_flags.h"

namespace infeed {

// A data set of which a worker fills slots.
struct ServedData {
  std::string split;  // empty: --shards
  std::shared_ptr<const RecordIndex> index;
};

// Opens the splits that the flags name, or all that are there; at least one.
// Prints missing shards, if they are allowed. Throws as
// IndexSplitThatIsThere().
[[nodiscard]] std::vector<ServedData> OpenServedData(const WorkerFlags& flags);

// "train (3000 records) and validation (500 records)".
[[nodiscard]] std::string ServedText(std::span<const ServedData> data);

}  // namespace infeed
