#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/shard_set.h"
#include "records/store/record_index.h"

namespace infeed {

class Selection;

// The value of class weights that the numbers of the classes' records set.
inline constexpr std::string_view kBalanced = "balanced";

// How a user selects an epoch's records; docs/order.md describes the fields.
struct SelectionChoice {
  std::string subset;              // file of record numbers
  std::string classes;             // names or labels, "a,b"
  std::string class_weights;       // file, or kBalanced
  std::string sample_weights;      // file
  std::string mix;                 // "DIR=WEIGHT,DIR2=WEIGHT2"
  std::int64_t epoch_records = 0;  // 0: the number of selected records

  [[nodiscard]] bool takes_all() const { return *this == SelectionChoice{}; }
  friend bool operator==(const SelectionChoice&,
                         const SelectionChoice&) = default;
};

// Indexes the data sets that `mix` names, one after the other, as IndexSplit()
// does a list of folders. Calls on_faults with the missing shards of each data
// set. Throws UsageError for a part that is not DIR=WEIGHT and for a folder
// without the split, and as IndexSplit(). Requires: mix is not empty.
[[nodiscard]] RecordIndex IndexMix(
    const SelectionChoice& choice, const std::string& split,
    const OnShardSetFaults& on_faults = RefuseFaults);

// Returns the selection; null: each record of the data once. index: of
// IndexMix(), if `mix` is not empty. label_key: of the records. Reads all
// data if classes are selected and no label files exist yet. Throws UsageError,
// IoError, and DataError for an invalid file.
[[nodiscard]] std::shared_ptr<const Selection> MakeSelection(
    const SelectionChoice& choice, const std::string& split,
    const RecordIndex& index, const std::string& label_key);

// "an epoch has 24 images: class daisy 12 (of 10 records), class rose 12 (of
// 30)", for the user; of many groups the first ones.
[[nodiscard]] std::string SelectionText(const Selection& selection);

}  // namespace infeed
