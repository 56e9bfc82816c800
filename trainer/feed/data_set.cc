#include "trainer/feed/data_set.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "pipeline/order/label_class.h"
#include "pipeline/reading/orientation_note.h"
#include "records/files/record_files.h"
#include "records/store/index_data.h"
#include "trainer/feed/run_input.h"

namespace infeed {
namespace {

std::optional<DataSplit> OpenSplit(const std::string& data_dir,
                                   const std::string& name,
                                   const OnShardSetFaults& on_faults) {
  std::optional<RecordIndex> index =
      IndexSplit(data_dir, name, {.on_faults = on_faults});
  return index ? std::optional(DataSplit{name, *std::move(index)})
               : std::nullopt;
}

// The records of the data sets that are mixed.
DataSplit OpenMix(const SelectionChoice& selection,
                  const OnShardSetFaults& on_faults) {
  return {"train", IndexMix(selection, "train", on_faults)};
}

std::string DescribeSplit(const DataSplit& split) {
  return split.name + " " + CountText(split.index.size(), "image") + " in " +
         CountText(split.index.shards().size(),
                   split.index.is_of_images() ? "file" : "shard") +
         "; ";
}

std::int64_t Images(const std::optional<DataSplit>& split) {
  return split ? split->index.size() : 0;
}

}  // namespace

std::int64_t LabelFacts::last_label() const {
  if (first && classes > 0) {
    return *first + classes - 1;
  }
  return found.empty() ? -1 : found.rbegin()->first;
}

int LabelFacts::CountClasses(int label_offset) const {
  if (!first && classes > 0) {
    return classes;
  }
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() - 1;
  return static_cast<int>(
      std::clamp<std::int64_t>(last_label(), label_offset - 1, kMost) + 1 -
      label_offset);
}

DataSet::DataSet(const std::string& data_dir, const DataSetOptions& options)
    : is_fake_(IsFakeData(data_dir)) {
  const SelectionChoice& choice = options.selection;
  if (is_fake_) {
    if (!choice.takes_all()) {
      throw UsageError(
          "data_dir=" + data_dir +
          ": fake data has no records to select; leave out subset, classes, "
          "class_weights, sample_weights and mix");
    }
    return;
  }
  const bool is_auto = options.eval_split == "auto";
  train_ = choice.mix.empty()
               ? OpenSplit(data_dir, "train", options.on_train_faults)
               : OpenMix(choice, options.on_train_faults);
  eval_ = OpenSplit(data_dir, is_auto ? "validation" : options.eval_split,
                    options.on_eval_faults);
  if (!eval_ && is_auto) {
    eval_ = OpenSplit(data_dir, "test", options.on_eval_faults);
  }
  if (!eval_ && !is_auto) {
    throw UsageError("eval_split: " +
                     MissingSplitText(data_dir, options.eval_split));
  }
  if (!train_ && !eval_) {
    throw UsageError(
        "data_dir=" + data_dir +
        ": no shards named train-NNNNN-of-NNNNN, validation-... or "
        "test-... in it, no folders of images by class (train/cat/1.jpg), and "
        "no .tfrecord, .tar or .zip file" +
        ParquetHintOfFolder(data_dir));
  }
  for (const std::optional<DataSplit>* split : {&train_, &eval_}) {
    if (*split) {
      RequireImages((*split)->index, options.keys.image);
    }
  }
  if (train_) {
    selection_ =
        MakeSelection(choice, "train", train_->index, options.keys.label);
  }
  FindLabels(options);
}

void DataSet::FindLabels(const DataSetOptions& options) {
  const RecordIndex& index = (train_ ? train_ : eval_)->index;
  classes_ = FindClasses(index);
  if (!classes_.is_of_all) {  // There may be more labels than names.
    classes_ = {};
  }
  // Known without reading records.
  labels_ = {.classes = static_cast<int>(classes_.names.size()),
             .first = classes_.first,
             .given_offset = options.label_offset};
  if (!options.counts_labels) {
    return;
  }
  if (labels_.classes == 0 || !labels_.first) {
    labels_.found = CountLabels(index, {.label_key = options.keys.label});
  }
  if (options.label_offset) {
    return;
  }
  labels_.first = FindLabelOffset(index, options.keys);
  const int other =
      eval_ ? FindLabelOffset(eval_->index, options.keys) : *labels_.first;
  if (other != *labels_.first) {
    throw UsageError(
        "label_offset: labels count from " + std::to_string(*labels_.first) +
        " in the training data, from " + std::to_string(other) + " in " +
        eval_->name + ": convert both to one format, or give label_offset");
  }
}

std::vector<const DataSplit*> DataSet::DifferentSplits() const {
  std::vector<const DataSplit*> splits;
  if (train_) {
    splits.push_back(&*train_);
  }
  const bool is_other =
      eval_ && !(train_ && train_->name == eval_->name &&
                 train_->index.shards() == eval_->index.shards());
  if (is_other) {
    splits.push_back(&*eval_);
  }
  return splits;
}

std::vector<std::string> DataSet::Notes(const InputOptions& input) const {
  std::vector<std::string> notes;
  if (selection_ != nullptr) {
    notes.push_back(SelectionText(*selection_));
  }
  for (const DataSplit* split : DifferentSplits()) {
    const RecordIndex& index = split->index;
    std::ranges::copy_if(index.notes(), std::back_inserter(notes),
                         [&](const std::string& note) {
                           return std::ranges::find(notes, note) == notes.end();
                         });
    const std::string keys = KeysNote(input, index);
    if (!keys.empty()) {
      notes.push_back(split->name + ": " + keys);
    }
    const std::string turned = OrientationNote(index);
    if (!turned.empty()) {
      notes.push_back(split->name + ": " + turned);
    }
  }
  const std::optional<DataSplit>& one = train_ ? train_ : eval_;
  // An index of folders has a note of its own.
  if (labels_.classes == 1 && one && one->index.class_names().empty()) {
    notes.push_back("the labels have only one class");
  }
  return notes;
}

std::int64_t DataSet::train_images() const {
  return selection_ != nullptr ? selection_->places() : Images(train_);
}

std::int64_t DataSet::eval_images() const { return Images(eval_); }

std::string DataSet::Describe() const {
  if (is_fake_) {
    return "fake: one batch of random images, which costs nothing to read";
  }
  std::string text;
  for (const DataSplit* split : DifferentSplits()) {
    text += DescribeSplit(*split);
  }
  // Named classes do not depend on the run's label_offset.
  const int classes = labels_.classes > 0
                          ? labels_.classes
                          : labels_.CountClasses(labels_.label_offset());
  if (classes == 0) {  // Not counted, or no record has a label.
    return text.substr(0, text.size() - std::string_view("; ").size());
  }
  return text + CountText(classes, "class", "classes");
}

}  // namespace infeed
