#include "pipeline/order/label_class.h"

#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "records/files/open_source.h"
#include "records/store/key_guess.h"
#include "records/store/label_index.h"

namespace infeed {
namespace {

// Without an image or a label where none is read.
RecordKeys GivenKeys(const InputOptions& options) {
  return {.image = StoreImageKey(options),
          .label = ReadsLabels(options) ? options.label_key : ""};
}

// Whether a field under the standard label_key is also the label: one whole
// number of each record.
bool IsLabel(const FieldSpec& field) {
  return field.kind == FeatureKind::kInt64 && field.shape &&
         field.items() == 1 && field.pad.empty() && !field.absent;
}

// The fields that are not guessed to be the label.
std::vector<std::string> OtherTargets(const InputOptions& options) {
  std::vector<std::string> keys;
  for (const FieldSpec& field : options.fields) {
    if (field.key != kLabelKey || !(options.wants_labels || IsLabel(field))) {
      keys.push_back(field.key);
    }
  }
  return keys;
}

RecordKeys FoundKeys(const InputOptions& options, const RecordIndex& index) {
  return FindKeys(index, GivenKeys(options), OtherTargets(options));
}

std::string Why(std::int64_t label, const InputOptions& options) {
  const int offset = *options.label_offset;
  const std::string text = options.label_key + " " + std::to_string(label);
  if (label < offset) {
    return text + " is below " + std::to_string(offset) +
           ", the label of the first class (label_offset)";
  }
  if (options.num_label_classes == 0) {
    return text + " does not fit 32 bits";
  }
  // Who has a list of image files knows the classes, and no key.
  return "class " + std::to_string(label - offset) + " is beyond the last of " +
         std::to_string(options.num_label_classes) + " classes, " +
         std::to_string(options.num_label_classes - 1) + " (" + text +
         ", counted from " + std::to_string(offset) + ")";
}

// The features that some record must have.
std::vector<FieldSpec> WantedFeatures(const InputOptions& options) {
  std::vector<FieldSpec> wanted = ReadFields(options);
  std::erase_if(
      wanted, [](const FieldSpec& field) { return field.absent.has_value(); });
  for (const ViewSpec& view : options.views) {
    if (!view.key.empty()) {
      wanted.push_back({.key = view.key, .kind = FeatureKind::kBytes});
    }
  }
  // The standard key is nobody's mistake: the records' errors name it.
  if (ReadsLabels(options) && options.require_labels &&
      options.label_key != kLabelKey) {
    wanted.push_back({.key = options.label_key, .kind = FeatureKind::kNone});
  }
  return wanted;
}

// The first shard whose classes infeed numbers itself; "": none.
std::string FindNumberedShard(const RecordIndex& index) {
  for (std::size_t shard = 0; shard < index.shards().size(); ++shard) {
    const RecordFormat format = index.format(shard);
    if (format == RecordFormat::kImage || IsArchiveTree(format)) {
      return index.shards()[shard];
    }
  }
  return "";
}

}  // namespace

std::string KeysNote(const InputOptions& options, const RecordIndex& index) {
  if (options.layout == BatchContent::kNone) {
    return "";
  }
  const RecordKeys keys = FoundKeys(options, index);
  if (keys == GivenKeys(options) || keys == RecordKeys()) {
    return "";
  }
  return "keys: found in the records: image_key=" + keys.image +
         (keys.label.empty() ? "" : " label_key=" + keys.label);
}

InputOptions WithFoundKeys(InputOptions options, const RecordIndex& index) {
  const bool has_images = options.layout != BatchContent::kNone;
  if (!has_images && !ReadsLabels(options)) {
    return options;
  }
  RecordKeys keys = FoundKeys(options, index);
  if (has_images) {
    options.image_key = std::move(keys.image);
  }
  if (!ReadsLabels(options)) {
    return options;
  }
  options.label_key = std::move(keys.label);
  if (options.require_labels && !options.wants_labels &&
      options.label_key == kLabelKey) {
    InputOptions without = options;
    without.label_key.clear();
    if (!ReadsLabels(without) && !MayHaveLabels(index, OtherTargets(options))) {
      return without;
    }
  }
  return options;
}

void RequireLabelOffset(const InputOptions& options, const RecordIndex& index) {
  const auto names = std::ssize(index.class_names());
  const bool has_background = names > 0 && options.num_label_classes > names;
  if (options.label_offset != 0 || has_background) {
    return;
  }
  const std::string shard = FindNumberedShard(index);
  if (!shard.empty()) {
    throw UsageError(
        "label_offset=0: the classes of " + PathForMessages(shard) +
        " are numbered by infeed, from label 1: leave label_offset "
        "out; classes then count from 0 in batches");
  }
}

InputOptions ComparedOptions(InputOptions options, const RecordIndex& index) {
  options = WithFoundKeys(std::move(options), index);
  RequireFeatures(index, StoreImageKey(options), WantedFeatures(options));
  if (!ReadsLabels(options)) {
    options.require_labels = false;
  } else if (!options.label_offset) {
    options.label_offset = FindLabelOffset(index, GivenKeys(options));
  }
  return options;
}

InputOptions ResolvedOptions(InputOptions options, const RecordIndex& index) {
  options = ComparedOptions(std::move(options), index);
  if (ReadsLabels(options)) {
    RequireLabelOffset(options, index);
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
