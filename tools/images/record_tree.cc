#include "tools/images/record_tree.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/files/shards.h"
#include "records/store/index_data.h"
#include "tools/images/record_images.h"

namespace infeed {
namespace {

// One split's records, listed.
struct RecordSplit {
  std::string name;
  std::shared_ptr<const RecordImages> images;
  std::vector<ListedRecord> records;
};

// The converter has no --allow_missing_shards.
void RefuseIncompleteSet(const ShardSetFaults& faults) {
  if (!faults.mixed.empty()) {
    RefuseFaults(faults);
  }
  throw DataError(MissingShardsText(faults) +
                  ": restore them, or name those that are there by a pattern");
}

// The names of the classes of some shards. Class i has the label first + i.
struct NamedLabels {
  std::vector<std::string> names = {};
  std::int64_t first = 1;
  std::string source = {};  // for messages
};

// Numbers the classes of all splits, in the order of their names.
class RecordClasses {
 public:
  // Adds a label that a record of images has. Throws DataError if it has no
  // class.
  void Add(const RecordImages& images, std::int64_t record,
           const ListedRecord& listed) {
    const NamedLabels* labels = LabelsOf(images, record);
    if (listed.label < 0) {
      throw DataError(
          {.path = images.PathOf(record, listed.name)},
          listed.label == kNoLabel
              ? "the record has no label: give data with labels, or a "
                "--manifest of image files"
              : fmt::format("the label is {}; labels count from 0 or 1",
                            listed.label));
    }
    if (labels == nullptr) {
      width_ = std::max(width_, std::to_string(listed.label).size());
    } else if (listed.label < labels->first ||
               listed.label - labels->first >= std::ssize(labels->names)) {
      throw DataError({.path = images.PathOf(record, listed.name)},
                      fmt::format("the label is {}, but {} has {} classes, "
                                  "from {} on: repair that file, or remove it",
                                  listed.label, labels->source,
                                  labels->names.size(), labels->first));
    }
    used_.emplace(std::pair(labels, listed.label), 0);
  }

  // Returns the classes, sorted. Requires: all labels were added.
  std::vector<ImageClass> Number() {
    std::map<std::string, std::int32_t> numbers;
    for (const auto& [label, number] : used_) {
      numbers.emplace(NameOf(label), 0);
    }
    for (const auto& [key, labels] : named_) {
      for (const std::string& name : labels.names) {
        numbers.emplace(name, 0);
      }
    }
    std::vector<ImageClass> classes;
    for (auto& [name, number] : numbers) {
      number = static_cast<std::int32_t>(classes.size());
      classes.push_back({name, name});
    }
    for (auto& [label, number] : used_) {
      number = numbers.at(NameOf(label));
    }
    return classes;
  }

  // The number of an added record's class. Requires: Number() was called.
  [[nodiscard]] std::int32_t NumberOf(const RecordImages& images,
                                      std::int64_t record, std::int64_t label) {
    return used_.at(std::pair(LabelsOf(images, record), label));
  }

 private:
  // nullptr: the label's number is its name.
  using Label = std::pair<const NamedLabels*, std::int64_t>;

  [[nodiscard]] std::string NameOf(const Label& label) const {
    const auto& [labels, number] = label;
    return labels == nullptr
               ? fmt::format("{:0{}}", number, width_)
               : labels
                     ->names[static_cast<std::size_t>(number - labels->first)];
  }

  const NamedLabels* LabelsOf(const RecordImages& images, std::int64_t record) {
    const auto shard =
        static_cast<std::size_t>(images.index().at(record).shard);
    const auto [place, is_new] =
        labels_of_.try_emplace(std::pair(&images, shard), nullptr);
    if (is_new) {
      place->second = FindLabels(images.index(), shard);
    }
    return place->second;
  }

  const NamedLabels* FindLabels(const RecordIndex& index, std::size_t shard) {
    const bool is_tree = IsArchiveTree(index.format(shard));
    const std::string& path = index.shards()[shard];
    const std::string source = is_tree ? path : FolderOfShard(path);
    const auto [place, is_new] = named_.try_emplace(source);
    NamedLabels& labels = place->second;
    if (is_new && is_tree) {
      labels = {.names = index.class_names(), .source = path};
    } else if (is_new) {
      if (std::optional<DatasetInfo> info = FindDatasetInfo(path)) {
        labels = {.names = std::move(info->classes),
                  .first = info->first_label.value_or(1),
                  .source = "the dataset.json beside its shard"};
      }
    }
    return labels.names.empty() ? nullptr : &labels;
  }

  std::map<std::string, NamedLabels> named_;  // by folder, or tree
  std::map<std::pair<const RecordImages*, std::size_t>, const NamedLabels*>
      labels_of_;                       // each shard's
  std::map<Label, std::int32_t> used_;  // with the class's number
  std::size_t width_ = 1;               // of a label's number as a name
};

std::vector<RecordSplit> ListSplits(
    const std::string& data, int threads,
    const std::function<void(std::int64_t)>& on_records, ImageTree& tree) {
  std::vector<RecordSplit> splits;
  std::int64_t before = 0;
  for (const std::string_view name : kSplits) {
    std::optional<RecordIndex> index =
        IndexSplit(data, name, {.on_faults = RefuseIncompleteSet});
    if (!index || index->size() == 0) {
      continue;
    }
    std::ranges::copy(index->notes(), std::back_inserter(tree.notes));
    const auto images = std::make_shared<RecordImages>(*std::move(index));
    splits.push_back({.name = std::string(name),
                      .images = images,
                      .records = images->List(threads, [&](std::int64_t done) {
                        on_records(before + done);
                      })});
    before += std::ssize(splits.back().records);
  }
  return splits;
}

void NumberClasses(const std::vector<RecordSplit>& splits,
                   RecordClasses& classes, ImageTree& tree) {
  for (const RecordSplit& split : splits) {
    for (std::size_t i = 0; i < split.records.size(); ++i) {
      if (!split.records[i].is_bad) {
        classes.Add(*split.images, static_cast<std::int64_t>(i),
                    split.records[i]);
      }
    }
  }
  tree.classes = classes.Number();
}

// Throws the error of the first record if all are bad.
void RequireGoodRecord(const std::vector<RecordSplit>& splits,
                       const ImageTree& tree) {
  if (tree.classes.empty()) {
    try {
      (void)splits.front().images->Read(0);
    } catch (const DataError& error) {
      throw DataError(
          {.path = splits.front().images->PathOf(
               0, splits.front().records.front().name)},
          error.reason() + " (as all other records, this one is bad)");
    }
  }
}

ImageSplit MakeSplit(const RecordSplit& records, RecordClasses& classes) {
  ImageSplit split = {.name = records.name, .images = {}};
  split.images.reserve(records.records.size());
  for (std::size_t i = 0; i < records.records.size(); ++i) {
    const ListedRecord& listed = records.records[i];
    const auto record = static_cast<std::int64_t>(i);
    split.images.push_back(
        {.path = records.images->PathOf(record, listed.name),
         // A bad record never becomes an image: any class will do.
         .class_index = listed.is_bad ? 0
                                      : classes.NumberOf(*records.images,
                                                         record, listed.label),
         .bytes = listed.bytes,
         .records = records.images,
         .record = record});
  }
  // The records of a tree are in the order of its folder's files already.
  const RecordIndex& index = records.images->index();
  const auto place = [&](const ImageFile& image) {
    const auto shard = static_cast<std::size_t>(index.at(image.record).shard);
    return std::tuple(std::string_view(index.shards()[shard]),
                      IsArchiveTree(index.format(shard))
                          ? std::string_view()
                          : std::string_view(image.path),
                      image.record);
  };
  std::ranges::sort(split.images, {}, place);
  return split;
}

}  // namespace

std::optional<ImageTree> FindRecordImages(
    const std::string& data, int threads,
    const std::function<void(std::int64_t)>& on_records) {
  ImageTree tree;
  const std::vector<RecordSplit> splits =
      ListSplits(data, threads, on_records, tree);
  if (splits.empty()) {
    return std::nullopt;
  }
  RecordClasses classes;
  NumberClasses(splits, classes, tree);
  RequireGoodRecord(splits, tree);
  for (const RecordSplit& split : splits) {
    tree.splits.push_back(MakeSplit(split, classes));
  }
  tree.has_split_folders = splits.size() > 1 || splits[0].name != "train";
  return tree;
}

}  // namespace infeed
