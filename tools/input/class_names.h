#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/store/record_index.h"

namespace infeed {

// The names of a data set's classes and their labels, as records hold them. The
// names come from dataset.json in the shards' folder, or in the folder above if
// that is a split's (train/). Const members may be called from several threads
// at once.
class ClassNames {
 public:
  // No names, only labels.
  ClassNames() = default;
  // The names of the first shard's data set. Throws DataError for an invalid
  // dataset.json, IoError when it cannot be read.
  explicit ClassNames(const RecordIndex& index);

  // Returns the label of a class, given as a name or as a label; a name takes
  // precedence. Throws UsageError for a text that is neither.
  [[nodiscard]] std::int64_t LabelOf(const std::string& name) const;
  // A label's class name, or the label itself as text if it has no name.
  [[nodiscard]] std::string NameOf(std::int64_t label) const;

 private:
  std::vector<std::string> names_;  // of label first_label_ + i
  std::int64_t first_label_ = 1;
};

}  // namespace infeed
