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

// The flags that say which records make an epoch. docs/order.md describes them.
namespace infeed {

struct SelectionFlags {
  std::string subset;                // file of record numbers
  std::vector<std::string> classes;  // names or labels
  bool balance_classes = false;
  std::string class_weights;       // file
  std::string sample_weights;      // file
  std::vector<std::string> mix;    // DIR=WEIGHT
  std::int64_t epoch_records = 0;  // 0: as many as are selected
};

// Adds them, in the group "Selection".
void AddSelectionFlags(CLI::App& app, SelectionFlags& flags);

// Returns the shards of the data sets that --mix names, those of one after
// those of the other; empty: there is no --mix. on_faults gets what each of
// them lacks. Throws UsageError for a part that is no DIR=WEIGHT, and for a
// folder without such shards.
[[nodiscard]] std::vector<std::string> MixedShards(
    const SelectionFlags& flags, const std::string& split,
    const OnShardSetFaults& on_faults = RefuseFaults);

// Returns what is selected of the data; null: all of it, each record once.
// index: of MixedShards() where that is not empty. Reads all of the data where
// classes are asked for and no label files are there yet. Throws UsageError,
// IoError, and DataError for a file that cannot be what it should.
[[nodiscard]] std::shared_ptr<const Selection> MakeSelection(
    const SelectionFlags& flags, const std::string& split,
    const RecordIndex& index);

}  // namespace infeed
