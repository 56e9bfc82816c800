#include "trainer/data_set.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/dataset_info.h"
#include "records/imagenet_example.h"
#include "records/record_store.h"
#include "records/shards.h"
#include "trainer/fake_data.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxLabelsBytes = std::int64_t{64} << 20;
constexpr std::int64_t kMaxClasses = std::numeric_limits<int>::max() - 1;

std::optional<DataSplit> OpenSplit(const std::string& data_dir,
                                   const std::string& name) {
  std::vector<std::string> shards = FindSplit(data_dir, name);
  if (shards.empty()) {
    return std::nullopt;
  }
  return DataSplit{name, RecordIndex(std::move(shards))};
}

std::int64_t CountLines(const std::string& path) {
  const std::string text = ReadWholeFile(path, kMaxLabelsBytes);
  const bool open_end = !text.empty() && text.back() != '\n';
  return std::count(text.begin(), text.end(), '\n') + (open_end ? 1 : 0);
}

std::int64_t LargestLabel(const RecordIndex& index) {
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  std::int64_t largest = 0;
  for (std::int64_t record = 0; record < index.size(); ++record) {
    try {
      largest = std::max(
          largest, ParseImagenetExample(store.Read(record, buffer)).label);
    } catch (const DataError&) {
      // A bad record has no say here; the pipeline's policy deals with it.
      continue;
    }
  }
  return largest;
}

std::int64_t CountClasses(const std::string& data_dir,
                          const RecordIndex& index) {
  if (const std::optional<DatasetInfo> info = ReadDatasetInfo(data_dir);
      info && !info->classes.empty()) {
    return static_cast<std::int64_t>(info->classes.size());
  }
  const std::string labels = data_dir + "/labels.txt";
  if (std::filesystem::exists(labels)) {
    return CountLines(labels);
  }
  return LargestLabel(index);
}

std::string DescribeSplit(const DataSplit& split) {
  return split.name + " " + std::to_string(split.index.size()) + " images in " +
         std::to_string(split.index.shards().size()) + " shards; ";
}

std::int64_t Images(const std::optional<DataSplit>& split) {
  return split ? split->index.size() : 0;
}

}  // namespace

DataSet::DataSet(const std::string& data_dir, const std::string& eval_split)
    : is_fake_(IsFakeData(data_dir)) {
  if (is_fake_) {
    return;
  }
  train_ = OpenSplit(data_dir, "train");
  eval_ = OpenSplit(data_dir, eval_split == "auto" ? "validation" : eval_split);
  if (!eval_ && eval_split == "auto") {
    eval_ = OpenSplit(data_dir, "test");
  }
  if (!train_ && !eval_) {
    throw UsageError(
        "data_dir=" + data_dir +
        ": no shards named train-NNNNN-of-NNNNN, validation-... or "
        "test-... in it; make them with imagenet_to_records");
  }
  const std::int64_t classes =
      CountClasses(data_dir, (train_ ? train_ : eval_)->index);
  num_classes_ = static_cast<int>(std::min(classes, kMaxClasses));
}

std::int64_t DataSet::train_images() const { return Images(train_); }

std::int64_t DataSet::eval_images() const { return Images(eval_); }

std::string DataSet::Describe() const {
  if (is_fake_) {
    return "fake: black images of class 0, which cost nothing to read";
  }
  std::string text;
  for (const std::optional<DataSplit>* split : {&train_, &eval_}) {
    text += *split ? DescribeSplit(**split) : "";
  }
  return text + std::to_string(num_classes_) + " classes";
}

}  // namespace infeed
