#include "records/store/label_index.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/store/record_store.h"
#include "records/tfrecord/number_file.h"

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

Labels LabelsOfImages(const RecordIndex& index) {
  Labels labels;
  for (std::int64_t image = 0; image < index.size(); ++image) {
    labels.push_back(index.image_label(image));
  }
  return labels;
}

std::optional<Labels> FindLabels(const ByteSource& shard, std::int64_t count,
                                 std::string_view ending) {
  for (const std::string& path : SidePaths(shard.path(), ending)) {
    std::optional<NumberFile> file = ReadNumberFile(path, kLabelsMagic);
    if (file && file->IsOf(shard) && std::ssize(file->numbers) == count) {
      return std::move(file->numbers);
    }
  }
  return std::nullopt;
}

void SaveLabels(const ByteSource& shard, const Labels& labels,
                std::string_view ending) {
  try {
    WriteFileAtomically(SidePathToWrite(shard.path(), ending),
                        NumberFileText(shard, kLabelsMagic, labels));
  } catch (const IoError&) {  // The next process reads the data again.
  }
}

// Calls take(labels) for each shard, in order.
void ForEachShard(const RecordIndex& index, const LabelIndexOptions& options,
                  const std::function<void(const Labels&)>& take) {
  const RecordStore store(index);
  const std::string ending =
      KeyedEnding(kLabelsEnding, options.label_key, kLabelKey);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < index.shards().size(); ++i) {
    const std::unique_ptr<ByteSource> shard = OpenSource(index.shards()[i]);
    const std::int64_t count = index.shard_size(i);
    std::optional<Labels> found =
        options.use_cache ? FindLabels(*shard, count, ending) : std::nullopt;
    if (!found) {
      found = ReadLabels(store, first, count, options.label_key);
      if (options.use_cache) {
        SaveLabels(*shard, *found, ending);
      }
    }
    take(*found);
    first += count;
  }
}

}  // namespace

std::vector<std::int64_t> RecordLabels(const RecordIndex& index,
                                       const LabelIndexOptions& options) {
  if (index.is_of_images()) {
    return LabelsOfImages(index);
  }
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
  if (index.is_of_images()) {
    count(LabelsOfImages(index));
  } else {
    ForEachShard(index, options, count);
  }
  return counts;
}

}  // namespace infeed
