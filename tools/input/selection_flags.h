#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/order/selection.h"
#include "records/files/shard_set.h"
#include "records/store/record_index.h"

namespace CLI {
class App;
}

// The flags that select an epoch's records. docs/order.md describes them.
namespace infeed {

struct SelectionFlags {
  std::string subset;                // file of record numbers
  std::vector<std::string> classes;  // names or labels
  bool balance_classes = false;
  std::string class_weights;       // file
  std::string sample_weights;      // file
  std::vector<std::string> mix;    // DIR=WEIGHT
  std::int64_t epoch_records = 0;  // 0: the number of selected records
};

// Adds the flags, in the group "Selection".
void AddSelectionFlags(CLI::App& app, SelectionFlags& flags);

// Returns the shards of the data sets that --mix names, one data set after the
// other; empty: no --mix. Calls on_faults with the missing shards of each data
// set. Throws UsageError for a part that is not DIR=WEIGHT, and for a folder
// without such shards.
[[nodiscard]] std::vector<std::string> MixedShards(
    const SelectionFlags& flags, const std::string& split,
    const OnShardSetFaults& on_faults = RefuseFaults);

// Returns the selection; null: each record of the data once. index: of
// MixedShards(), if that is not empty. label_key: of the records. Reads all
// data if classes are selected and no label files exist yet. Throws UsageError,
// IoError, and DataError for an invalid file.
[[nodiscard]] std::shared_ptr<const Selection> MakeSelection(
    const SelectionFlags& flags, const std::string& split,
    const RecordIndex& index, const std::string& label_key);

}  // namespace infeed
