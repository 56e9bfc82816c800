#include "records/store/label_offset.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/files/siblings.h"
#include "records/store/label_index.h"

namespace infeed {
namespace {

// The first label found so far, and its source.
class FirstLabel {
 public:
  // Throws UsageError if another source has another first label.
  void Add(int label, const std::string& source) {
    if (label_ && label_ != label) {
      throw UsageError("label_offset: labels count from " +
                       std::to_string(*label_) + " in " + source_ + ", from " +
                       std::to_string(label) + " in " + source +
                       ": read these data sets one at a time");
    }
    if (!label_) {
      label_ = label;
      source_ = source;
    }
  }

  [[nodiscard]] std::optional<int> label() const { return label_; }

 private:
  std::optional<int> label_;
  std::string source_;
};

// A server may serve shards and refuse all other files.
std::optional<DatasetInfo> InfoBeside(const std::string& shard) {
  try {
    return FindDatasetInfo(shard);
  } catch (const IoError&) {
    if (!IsUrl(shard)) {
      throw;
    }
    return std::nullopt;
  }
}

// Indexes the files of a data set that the index lacks; the records of damaged
// files count as absent.
std::vector<RecordIndex> IndexOthers(const RecordIndex& index) {
  std::set<std::string> files(index.other_files().begin(),
                              index.other_files().end());
  std::ranges::move(FindSiblings(index.shards()),
                    std::inserter(files, files.end()));
  for (const std::string& shard : index.shards()) {
    files.erase(shard);
  }
  const RecordIndexOptions options = {.use_cache = index.uses_cache()};
  std::vector<RecordIndex> others;
  try {
    others.emplace_back(std::vector(files.begin(), files.end()), options);
  } catch (const DataError&) {
    for (const std::string& file : files) {
      try {
        others.emplace_back(std::vector{file}, options);
      } catch (const DataError&) {  // Reported where the file is read.
      }
    }
  }
  return others;
}

int CountedFirstLabel(const RecordIndex& index, const std::string& label_key) {
  const LabelIndexOptions options = {.use_cache = index.uses_cache(),
                                     .label_key = label_key};
  LabelCounts found = CountLabels(index, options);
  if (found.contains(0)) {
    return 0;
  }
  for (const RecordIndex& other : IndexOthers(index)) {
    if (other.any_examples()) {
      found.merge(CountLabels(other, options));
    }
  }
  const std::int64_t classes =
      std::ssize(FindClassList(index.shards().front()));
  const bool is_below = found.empty() || found.rbegin()->first < classes;
  return found.contains(0) || (classes > 0 && is_below) ? 0 : 1;
}

}  // namespace

int FindLabelOffset(const RecordIndex& index, const RecordKeys& given) {
  if (index.is_of_images()) {
    return 1;
  }
  FirstLabel first;
  std::set<std::string> seen;
  std::string open;  // a folder whose records decide
  const RecordKeys keys =
      index.any_examples() ? FindKeys(index, given) : RecordKeys();
  const bool is_tfds = keys == RecordKeys{.image = "image", .label = "label"};
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    const std::string& shard = index.shards()[i];
    if (!index.holds_examples(i)) {
      first.Add(index.format(i) == RecordFormat::kTar ? 0 : 1,
                PathForMessages(shard));
      continue;
    }
    const std::string folder = DatasetFolders(shard).front();
    if (!seen.insert(folder).second) {
      continue;
    }
    const std::optional<DatasetInfo> info = InfoBeside(shard);
    if (info && info->first_label) {
      first.Add(*info->first_label, "the dataset.json of " + folder);
    } else if (is_tfds) {
      first.Add(0, folder + " (keys image and label)");
    } else {
      open = folder;
    }
  }
  if (!open.empty()) {
    first.Add(CountedFirstLabel(index, keys.label), open + ", by its labels");
  }
  return first.label().value_or(1);
}

}  // namespace infeed
