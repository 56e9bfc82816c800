#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/record_index.h"

namespace infeed {

// One split of a data set, indexed.
struct DataSplit {
  std::string name;  // train, validation or test
  RecordIndex index;
};

// What a training run finds in its data folder.
//
// Const members may be called from several threads at once. The constructor
// throws IoError for a folder that is missing or cannot be read, UsageError
// when there are no shards in it, DataError for a broken shard or dataset.json.
class DataSet {
 public:
  // None, for the modes that can do without.
  DataSet() = default;
  explicit DataSet(const std::string& data_dir);

  // Absent when there are no such shards.
  [[nodiscard]] const std::optional<DataSplit>& train() const { return train_; }
  // validation-*, else test-*.
  [[nodiscard]] const std::optional<DataSplit>& eval() const { return eval_; }

  // From dataset.json, else labels.txt, else the largest label of all records,
  // which reads them. 0 when none of them says.
  [[nodiscard]] int num_classes() const { return num_classes_; }

  [[nodiscard]] std::int64_t train_images() const;
  [[nodiscard]] std::int64_t eval_images() const;

  // "train 3000 images in 8 shards; validation 500 images in 8 shards; 10
  // classes".
  [[nodiscard]] std::string Describe() const;

 private:
  std::optional<DataSplit> train_;
  std::optional<DataSplit> eval_;
  int num_classes_ = 0;
};

}  // namespace infeed
