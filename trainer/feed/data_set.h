#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/order/selection.h"
#include "pipeline/order/selection_choice.h"
#include "records/files/shard_set.h"
#include "records/store/index_classes.h"
#include "records/store/key_guess.h"
#include "records/store/label_index.h"
#include "records/store/record_index.h"

namespace infeed {

struct DataSplit {
  std::string name;  // train, validation or test
  RecordIndex index;
};

struct DataSetOptions {
  // train, validation or test; auto: validation, else test.
  std::string eval_split = "auto";
  // Whether to read the labels of the training records (or, if there are none,
  // of those to evaluate) if dataset.json does not have all facts.
  bool counts_labels = true;
  // The label offset that the user gave; absent: found by FindLabelOffset() if
  // labels are counted.
  std::optional<int> label_offset = {};
  RecordKeys keys = {};            // of the records
  SelectionChoice selection = {};  // of the training records
  // Called for splits that lack shards.
  OnShardSetFaults on_train_faults = RefuseFaults;
  OnShardSetFaults on_eval_faults = RefuseFaults;
};

struct LabelFacts {
  int classes = 0;                // names in dataset.json or labels.txt
  std::optional<int> first = {};  // label of the first class, from dataset.json
  LabelCounts found = {};         // of the training records; empty: not counted
  std::optional<int> given_offset = {};  // the user's label_offset

  // -1 when it is not known.
  [[nodiscard]] std::int64_t last_label() const;
  // The label of class 0: as given, else `first`, else 0 or 1, by the labels
  // found.
  [[nodiscard]] int label_offset() const {
    return given_offset.value_or(first.value_or(found.contains(0) ? 0 : 1));
  }
  // Number of classes, the first of which has this label; 0 when the data set
  // does not define it.
  [[nodiscard]] int CountClasses(int label_offset) const;
};

// The data in a run's data folder, or for training a mix of folders; or fake
// data (run_input.h).
//
// Const members may be called from several threads at once. The constructor
// throws IoError for a folder that is missing or cannot be read, UsageError
// when it has no data or a label has two names (FindClasses()), DataError for a
// broken shard or dataset.json.
class DataSet {
 public:
  // No data, for modes that do not need any.
  DataSet() = default;
  explicit DataSet(const std::string& data_dir,
                   const DataSetOptions& options = {});

  [[nodiscard]] bool is_fake() const { return is_fake_; }

  // Whether there are images to train on, and images to evaluate.
  [[nodiscard]] bool has_train() const { return is_fake_ || train_; }
  [[nodiscard]] bool has_eval() const { return is_fake_ || eval_; }
  // The index for OpenInput(): null for fake data. Requires: has_train();
  // has_eval().
  [[nodiscard]] const RecordIndex* train_index() const {
    return is_fake_ ? nullptr : &train_->index;
  }
  [[nodiscard]] const RecordIndex* eval_index() const {
    return is_fake_ ? nullptr : &eval_->index;
  }

  // Absent when the split has no records.
  [[nodiscard]] const std::optional<DataSplit>& train() const { return train_; }
  [[nodiscard]] const std::optional<DataSplit>& eval() const { return eval_; }

  [[nodiscard]] const LabelFacts& labels() const { return labels_; }

  // The classes of the training records or, if there are none, of those to
  // evaluate. Without names if one of several data sets has none.
  [[nodiscard]] const IndexClasses& classes() const { return classes_; }

  // Sentences for the user: what was left out of the data, and which keys were
  // found in its records.
  [[nodiscard]] std::vector<std::string> Notes(const InputOptions& input) const;

  // The training records of an epoch; null: each one once.
  [[nodiscard]] const std::shared_ptr<const Selection>& selection() const {
    return selection_;
  }

  // The number of training images in an epoch.
  [[nodiscard]] std::int64_t train_images() const;
  [[nodiscard]] std::int64_t eval_images() const;

  // "train 3000 images in 8 shards; validation 500 images in 8 shards; 10
  // classes".
  [[nodiscard]] std::string Describe() const;

 private:
  void FindLabels(const DataSetOptions& options);
  // One of them where the evaluation is of the training records.
  [[nodiscard]] std::vector<const DataSplit*> DifferentSplits() const;

  bool is_fake_ = false;
  std::optional<DataSplit> train_;
  std::optional<DataSplit> eval_;
  IndexClasses classes_;
  LabelFacts labels_;
  std::shared_ptr<const Selection> selection_;
};

}  // namespace infeed
