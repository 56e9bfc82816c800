#include "pipeline/order/label_class.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "records/files/dataset_info.h"
#include "records/files/open_source.h"
#include "records/store/key_guess.h"
#include "records/store/label_index.h"

namespace infeed {
namespace {

// A server may serve shards and refuse all other files.
std::optional<DatasetInfo> InfoOf(const std::string& shard) {
  try {
    return FindDatasetInfo(shard);
  } catch (const IoError&) {
    if (!IsUrl(shard)) {
      throw;
    }
    return std::nullopt;
  }
}

// The offset in dataset.json, checked for one folder of shards after the other.
std::optional<int> DescribedOffset(const RecordIndex& index) {
  std::optional<int> described;
  std::set<std::string> seen;
  for (const std::string& shard : index.shards()) {
    const std::string folder = DatasetFolders(shard).front();
    if (!seen.insert(folder).second) {
      continue;
    }
    const std::optional<DatasetInfo> info = InfoOf(shard);
    if (!info || !info->first_label) {
      continue;
    }
    if (described && described != info->first_label) {
      throw UsageError("label_offset: by the dataset.json of " + folder +
                       " labels are from " +
                       std::to_string(*info->first_label) +
                       ", by another from " + std::to_string(*described) +
                       ": read these data sets one at a time");
    }
    described = info->first_label;
  }
  return described;
}

RecordKeys KeysFor(const InputOptions& options, const RecordIndex& index) {
  return index.any_examples()
             ? FindKeys(index, {options.image_key, options.label_key})
             : RecordKeys();
}

std::string Why(std::int64_t label, const InputOptions& options) {
  if (label == kNoLabel) {
    return "there is no label (" + options.label_key + " is missing or -1)";
  }
  const int offset = *options.label_offset;
  const std::string text = options.label_key + " " + std::to_string(label);
  if (label < offset) {
    return text + " is below " + std::to_string(offset) +
           ", the label of the first class (label_offset)";
  }
  return options.num_label_classes > 0
             ? text + " is beyond the last of " +
                   std::to_string(options.num_label_classes) +
                   " classes, whose label is " +
                   std::to_string(options.num_label_classes - 1 + offset)
             : text + " does not fit 32 bits";
}

}  // namespace

int FindLabelOffset(const RecordIndex& index, std::string_view label_key) {
  if (index.any_examples()) {
    if (const std::optional<int> described = DescribedOffset(index)) {
      return *described;
    }
  }
  const LabelCounts counts = CountLabels(
      index,
      {.use_cache = index.uses_cache(), .label_key = std::string(label_key)});
  return counts.contains(0) ? 0 : 1;
}

std::string KeysNote(const InputOptions& options, const RecordIndex& index) {
  const RecordKeys keys = KeysFor(options, index);
  if (!index.any_examples() ||
      (keys.image == options.image_key && keys.label == options.label_key)) {
    return "";
  }
  return "keys: found in the records: image_key=" + keys.image +
         " label_key=" + keys.label;
}

InputOptions WithFoundKeys(InputOptions options, const RecordIndex& index) {
  RecordKeys keys = KeysFor(options, index);
  options.image_key = std::move(keys.image);
  options.label_key = std::move(keys.label);
  return options;
}

InputOptions ResolvedOptions(InputOptions options, const RecordIndex& index) {
  options = WithFoundKeys(std::move(options), index);
  if (!options.label_offset) {
    options.label_offset = FindLabelOffset(index, options.label_key);
  }
  return options;
}

std::int32_t ClassOf(std::int64_t label, const InputOptions& options) {
  const std::int64_t classes =
      options.num_label_classes > 0
          ? options.num_label_classes
          : std::int64_t{std::numeric_limits<std::int32_t>::max()};
  Check(options.label_offset.has_value(), "label_offset is resolved");
  const int offset = *options.label_offset;
  // Compared in a way that cannot overflow.
  if (label >= offset && label < classes + offset) {
    return static_cast<std::int32_t>(label - offset);
  }
  if (options.require_labels) {
    throw DataError(Why(label, options));
  }
  return -1;
}

}  // namespace infeed
