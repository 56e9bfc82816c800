#include "tools/images/record_tree.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "records/files/class_list.h"
#include "records/files/dataset_info.h"
#include "records/files/split_names.h"
#include "records/store/index_data.h"
#include "records/store/label_index.h"
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
  throw DataError(
      faults.missing.empty()
          ? ChangedShardsText(faults) +
                ": restore all shards and dataset.json "
                "of one conversion"
          : MissingShardsText(faults) +
                ": restore them, or name those that are there by a pattern");
}

// The labels of some shards. Label first + i is class i, named names[i];
// without names it is named by its label.
struct KnownLabels {
  std::vector<std::string> names = {};
  std::int64_t first = 1;
  std::string source = {};  // for messages
  bool is_tree = false;     // numbered by this program, by name
};

// Numbers the classes of all splits. Labels keep their numbers: class i is
// label first + i. Where lists of names do not agree, classes are numbered by
// name.
class RecordClasses {
 public:
  // Adds a label that a record of images has. Throws DataError if it has no
  // class.
  void Add(const RecordImages& images, std::int64_t record,
           const ListedRecord& listed) {
    const KnownLabels& labels = LabelsOf(images, record);
    const auto fail = [&](const std::string& reason) {
      throw DataError({.path = images.PathOf(record, listed.name)}, reason);
    };
    if (listed.label == kNoLabel) {
      fail(images.WhyNoLabel(record) +
           " (a --manifest gives image files their labels)");
    }
    const std::int64_t number = listed.label - labels.first;
    if (listed.label < 0 || (labels.names.empty() && number < 0)) {
      fail(fmt::format("the label is {}; labels count from {}", listed.label,
                       labels.first));
    }
    const bool is_named = !labels.names.empty();
    if (is_named && (number < 0 || number >= std::ssize(labels.names))) {
      fail(fmt::format(
          "the label is {}, but {} has {} classes, from {} on: "
          "repair that file, or remove it",
          listed.label, labels.source, labels.names.size(), labels.first));
    }
    if (number >= kMostClasses) {
      fail(
          fmt::format("the label is {}; at most {} classes are possible: check "
                      "that the labels are class numbers",
                      listed.label, kMostClasses));
    }
    used_.emplace(std::pair(&labels, listed.label), 0);
  }

  // Sets the classes of the tree, and notes where numbers change. Requires: all
  // labels were added.
  void Number(ImageTree& tree) {
    if (used_.empty()) {
      return;
    }
    std::vector<std::string> names = KeptNames();
    if (!names.empty()) {
      for (auto& [label, number] : used_) {
        number = KeptNumber(label);
      }
    } else {
      names = NumberByName(tree.notes);
    }
    for (const std::string& name : names) {
      const auto text = texts_.find(name);
      tree.classes.push_back(
          {name, text == texts_.end() ? name : text->second});
    }
  }

  // The number of an added record's class. Requires: Number() was called.
  [[nodiscard]] std::int32_t NumberOf(const RecordImages& images,
                                      std::int64_t record, std::int64_t label) {
    return used_.at(std::pair(&LabelsOf(images, record), label));
  }

 private:
  using Label = std::pair<const KnownLabels*, std::int64_t>;

  static std::int32_t KeptNumber(const Label& label) {
    return static_cast<std::int32_t>(label.second - label.first->first);
  }

  // Numbers as names, with leading zeros so that their order is that of
  // numbers.
  [[nodiscard]] std::vector<std::string> NumbersAsNames() const {
    std::int64_t first = 0;
    std::int64_t last = -1;
    for (const auto& [label, number] : used_) {
      first = label.first->first;
      last = std::max(last, label.second);
    }
    std::vector<std::string> names;
    const std::size_t width = std::to_string(last).size();
    for (std::int64_t label = first; label <= last; ++label) {
      names.push_back(fmt::format("{:0{}}", label, width));
    }
    return names;
  }

  // The names of all classes if labels can keep their numbers: there are no
  // names and all labels count from the same number, or every list is a prefix
  // of one list. Else empty.
  [[nodiscard]] std::vector<std::string> KeptNames() const {
    const std::vector<std::string>* longest = nullptr;
    std::set<std::int64_t> unnamed;
    for (const auto& [key, labels] : known_) {
      if (labels.names.empty()) {
        unnamed.insert(labels.first);
      } else if (longest == nullptr || labels.names.size() > longest->size()) {
        longest = &labels.names;
      }
    }
    if (longest == nullptr) {
      return unnamed.size() == 1 ? NumbersAsNames()
                                 : std::vector<std::string>();
    }
    const bool agree = std::ranges::all_of(known_, [&](const auto& entry) {
      const std::vector<std::string>& names = entry.second.names;
      return !names.empty() &&
             std::equal(names.begin(), names.end(), longest->begin());
    });
    return agree ? *longest : std::vector<std::string>();
  }

  std::vector<std::string> NumberByName(std::vector<std::string>& notes) {
    std::size_t width = 1;
    for (const auto& [label, number] : used_) {
      width = std::max(width, std::to_string(label.second).size());
    }
    const auto name_of = [&](const Label& label) {
      return label.first->names.empty()
                 ? fmt::format("{:0{}}", label.second, width)
                 : label.first
                       ->names[static_cast<std::size_t>(KeptNumber(label))];
    };
    std::set<std::string> names;
    for (const auto& [label, number] : used_) {
      names.insert(name_of(label));
    }
    for (const auto& [key, labels] : known_) {
      names.insert(labels.names.begin(), labels.names.end());
    }
    std::map<std::string, std::int32_t> numbers;
    for (const std::string& name : names) {
      numbers.emplace(name, static_cast<std::int32_t>(numbers.size()));
    }
    bool is_noted = false;
    for (auto& [label, number] : used_) {
      number = numbers.at(name_of(label));
      if (!is_noted && !label.first->is_tree && number != KeptNumber(label)) {
        notes.push_back(fmt::format(
            "classes are numbered anew, by name, as the inputs name or number "
            "them differently: {} of {} was class {} (from 0), and is {}",
            name_of(label), label.first->source, KeptNumber(label), number));
        is_noted = true;
      }
    }
    return {names.begin(), names.end()};
  }

  const KnownLabels& LabelsOf(const RecordImages& images, std::int64_t record) {
    const auto shard =
        static_cast<std::size_t>(images.index().at(record).shard);
    const auto [place, is_new] =
        labels_of_.try_emplace(std::pair(&images, shard), nullptr);
    if (is_new) {
      place->second = &FindLabels(images, shard);
    }
    return *place->second;
  }

  // The labels of an archive tree, else those known for the shard's folder and
  // format.
  const KnownLabels& FindLabels(const RecordImages& images, std::size_t shard) {
    const RecordIndex& index = images.index();
    const std::string& path = index.shards()[shard];
    const RecordFormat format = index.format(shard);
    const bool is_tree = IsArchiveTree(format);
    const auto [place, is_new] = known_.try_emplace(
        std::pair(is_tree ? path : FolderOfShard(path), format));
    KnownLabels& labels = place->second;
    if (!is_new) {
      return labels;
    }
    if (is_tree) {
      labels = {.names = index.class_names(), .source = path, .is_tree = true};
      texts_.insert(index.class_texts().begin(), index.class_texts().end());
      return labels;
    }
    if (std::optional<DatasetInfo> info = FindDatasetInfo(path);
        info && !info->classes.empty()) {
      labels = {.names = std::move(info->classes),
                .first = info->first_label.value_or(1),
                .source = "the dataset.json beside its shard"};
      return labels;
    }
    labels = {.names = FindClassList(path),
              .first = format == RecordFormat::kTar
                           ? 0
                           : FindLabelOffset(index, images.keys()),
              .source = path};
    if (!labels.names.empty()) {
      labels.source = "the labels.txt beside its shard";
    }
    return labels;
  }

  std::map<std::pair<std::string, RecordFormat>, KnownLabels> known_;
  std::map<std::pair<const RecordImages*, std::size_t>, const KnownLabels*>
      labels_of_;                       // each shard's
  std::map<Label, std::int32_t> used_;  // with the class's number
  ClassTexts texts_;                    // of the archives of folders
};

std::vector<RecordSplit> ListSplits(
    const std::string& data, const RecordKeys& keys, int threads,
    const std::function<void(std::int64_t)>& on_records, ImageTree& tree) {
  std::vector<RecordSplit> splits;
  std::int64_t before = 0;
  for (const std::string_view name : kSplits) {
    std::optional<RecordIndex> index = IndexSplit(
        data, name,
        {.on_faults = RefuseIncompleteSet, .takes_any_numbering = true});
    if (!index || index->size() == 0) {
      continue;
    }
    std::ranges::copy_if(
        index->notes(), std::back_inserter(tree.notes),
        [known = tree.notes](const std::string& note) {  // Of another split.
          return std::ranges::find(known, note) == known.end();
        });
    const auto images = std::make_shared<RecordImages>(*std::move(index), keys);
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
  classes.Number(tree);
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
         // A bad record never becomes an image, so its class does not matter.
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
    const std::string& data, const RecordKeys& keys, int threads,
    const std::function<void(std::int64_t)>& on_records) {
  ImageTree tree;
  const std::vector<RecordSplit> splits =
      ListSplits(data, keys, threads, on_records, tree);
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
