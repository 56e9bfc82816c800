#include "records/store/label_index.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/bytes/payload.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/files/split_names.h"
#include "records/store/record_store.h"

namespace infeed {
namespace {

constexpr std::string_view kLabelsMagic = "infeedLB";
constexpr std::string_view kLabelsEnding = ".labels";
constexpr std::int64_t kRecordsAtOnce = 256;

using Labels = std::vector<std::int64_t>;

std::int64_t ParseLabel(std::span<const std::byte> payload,
                        std::string_view key) {
  try {
    return ParseImagenetExample(payload, LabelList::kOne, {.label = key}).label;
  } catch (const DataError&) {  // The error is reported when the image is read.
    return kNoLabel;
  }
}

// Reads the labels of the records from first on.
Labels ReadLabels(const RecordStore& store, std::int64_t first,
                  std::int64_t count, std::string_view key) {
  Labels labels(static_cast<std::size_t>(count), kNoLabel);
  for (std::int64_t done = 0; done < count; done += kRecordsAtOnce) {
    std::vector<std::int64_t> records(
        static_cast<std::size_t>(std::min(kRecordsAtOnce, count - done)));
    std::iota(records.begin(), records.end(), first + done);
    store.ReadMany(
        records,
        [&](std::size_t place, std::span<const std::byte> payload) {
          labels[static_cast<std::size_t>(done) + place] =
              ParseLabel(payload, key);
        },
        [](std::size_t, const DataError&) {});
  }
  return labels;
}

// The labels that the index has of the records from first on.
Labels IndexedLabels(const RecordIndex& index, std::int64_t first,
                     std::int64_t count) {
  Labels labels;
  for (std::int64_t record = first; record < first + count; ++record) {
    labels.push_back(index.label(record));
  }
  return labels;
}

std::optional<Labels> FindLabels(const ByteSource& shard, std::int64_t count,
                                 std::string_view ending) {
  return FindSideFile(shard, ending, kLabelsMagic, [&](const SideFile& file) {
    std::optional<Labels> labels = ParseNumbers(file.payload);
    return labels && std::ssize(*labels) == count ? std::move(labels)
                                                  : std::nullopt;
  });
}

void SaveLabels(const ByteSource& shard, const Labels& labels,
                std::string_view ending) {
  try {
    std::string payload;
    AppendNumbers(payload, labels);
    (void)SaveSideFile(shard, ending, kLabelsMagic, payload);
  } catch (const IoError&) {  // The next process reads the data again.
  }
}

// The labels of a shard of Examples, whose first record is `first`.
Labels LabelsOfExamples(const RecordStore& store, const std::string& path,
                        std::int64_t first, std::int64_t count,
                        const LabelIndexOptions& options) {
  const std::string ending =
      KeyedEnding(kLabelsEnding, options.label_key, kLabelKey);
  const std::unique_ptr<ByteSource> shard = OpenSource(path);
  std::optional<Labels> found =
      options.use_cache ? FindLabels(*shard, count, ending) : std::nullopt;
  if (!found) {
    found = ReadLabels(store, first, count, options.label_key);
    if (options.use_cache) {
      SaveLabels(*shard, *found, ending);
    }
  }
  return *std::move(found);
}

// Calls take(labels) for each shard, in order.
void ForEachShard(const RecordIndex& index, const LabelIndexOptions& options,
                  const std::function<void(const Labels&)>& take) {
  const RecordStore store(index);
  LabelIndexOptions found = options;
  found.label_key = FindLabelKey(index, options.label_key);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    const std::int64_t count = index.shard_size(i);
    take(index.holds_examples(i)
             ? LabelsOfExamples(store, index.shards()[i], first, count, found)
             : IndexedLabels(index, first, count));
    first += count;
  }
}

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
  const std::int64_t classes = std::ssize(NamesBeside(index.shards().front()));
  const bool is_below = found.empty() || found.rbegin()->first < classes;
  return found.contains(0) || (classes > 0 && is_below) ? 0 : 1;
}

}  // namespace

std::vector<std::int64_t> RecordLabels(const RecordIndex& index,
                                       const LabelIndexOptions& options) {
  Labels all;
  ForEachShard(index, options, [&](const Labels& labels) {
    all.insert(all.end(), labels.begin(), labels.end());
  });
  return all;
}

LabelCounts CountLabels(const RecordIndex& index,
                        const LabelIndexOptions& options) {
  LabelCounts counts;
  const auto count = [&](const Labels& labels) {
    for (const std::int64_t label : labels) {
      ++counts[label];
    }
  };
  ForEachShard(index, options, count);
  return counts;
}

namespace {

// What is known of the first label before labels are read.
struct StatedLabel {
  FirstLabel first = {};
  std::string open = {};  // a folder whose records decide
  RecordKeys keys = {};
};

StatedLabel FindStated(const RecordIndex& index, const RecordKeys& given) {
  StatedLabel stated;
  if (index.is_of_images()) {
    stated.first.Add(1, "image files");
    return stated;
  }
  std::set<std::string> seen;
  if (index.any_examples()) {
    stated.keys = FindKeys(index, given);
  }
  const std::string& image = stated.keys.image;
  const bool is_tfds =
      stated.keys.label == "label" &&
      (image == "image" || (image.empty() && HasTfdsKeys(index)));
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    const std::string& shard = index.shards()[i];
    if (!index.holds_examples(i)) {
      stated.first.Add(index.format(i) == RecordFormat::kTar ? 0 : 1,
                       PathForMessages(shard));
      continue;
    }
    const std::string folder = DatasetFolders(shard).front();
    if (!seen.insert(folder).second) {
      continue;
    }
    const std::optional<DatasetInfo> info = InfoBeside(shard);
    if (info && info->first_label) {
      stated.first.Add(*info->first_label, "the dataset.json of " + folder);
    } else if (is_tfds) {
      stated.first.Add(0, folder + " (keys image and label)");
    } else {
      stated.open = folder;
    }
  }
  return stated;
}

}  // namespace

std::optional<int> StatedLabelOffset(const RecordIndex& index,
                                     const RecordKeys& given) {
  const StatedLabel stated = FindStated(index, given);
  return stated.open.empty() ? std::optional(stated.first.label().value_or(1))
                             : std::nullopt;
}

int FindLabelOffset(const RecordIndex& index, const RecordKeys& given) {
  StatedLabel stated = FindStated(index, given);
  if (!stated.open.empty()) {
    stated.first.Add(CountedFirstLabel(index, stated.keys.label),
                     stated.open + ", by its labels");
  }
  return stated.first.label().value_or(1);
}

IndexClasses FindNumberedClasses(const RecordIndex& index,
                                 const std::string& label_key) {
  IndexClasses classes = FindClasses(index);
  if (classes.names.empty() || classes.first) {
    return classes;
  }
  const std::string key = FindLabelKey(index, label_key);
  classes.first = FindLabelOffset(index, {.image = "", .label = key});
  const std::int64_t end = *classes.first + std::ssize(classes.names);
  const LabelCounts found =
      CountLabels(index, {.use_cache = index.uses_cache(), .label_key = key});
  if (!found.empty() && found.rbegin()->first >= end) {
    throw DataError(
        "the labels.txt beside " + PathForMessages(index.shards().front()) +
        " names " + std::to_string(classes.names.size()) +
        " classes, the last one of label " + std::to_string(end - 1) +
        ", but the records have labels up to " +
        std::to_string(found.rbegin()->first) +
        ": give it a line for each label, the lowest label's first");
  }
  return classes;
}

}  // namespace infeed
