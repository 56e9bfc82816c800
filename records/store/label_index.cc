#include "records/store/label_index.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/bytes/payload.h"
#include "records/files/open_source.h"
#include "records/files/side_file.h"
#include "records/files/side_format.h"
#include "records/store/key_guess.h"
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

}  // namespace infeed
