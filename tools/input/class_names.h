#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/store/record_index.h"

namespace infeed {

// What the classes of a data set are called: names of dataset.json, which lies
// in the shards' folder, or above it where that is a split's (train/), and
// beside them their labels, as records hold them. Const members may be called
// from several threads at once.
class ClassNames {
 public:
  // No names: labels alone.
  ClassNames() = default;
  // Those of the first shard's data set. Throws DataError for a dataset.json
  // that is none, IoError when it cannot be read.
  explicit ClassNames(const RecordIndex& index);

  // Returns the label of a class; a name goes before a label. Throws UsageError
  // for what is neither.
  [[nodiscard]] std::int64_t LabelOf(const std::string& name) const;
  // Its name, or the label itself where it has none.
  [[nodiscard]] std::string NameOf(std::int64_t label) const;

 private:
  std::vector<std::string> names_;  // of label first_label_ + i
  std::int64_t first_label_ = 1;
};

}  // namespace infeed
