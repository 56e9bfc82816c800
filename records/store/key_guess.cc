#include "records/store/key_guess.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/example/reader.h"
#include "records/store/record_store.h"

namespace infeed {
namespace {

using Features = std::vector<ExampleFeature>;

// Damaged records at the begin of the data are passed over, up to this many.
constexpr std::int64_t kMostTries = 8;

constexpr std::array<std::string_view, 5> kLabelKeys = {
    "label", "image/label", "class", "image/object/class/label", "target"};

// How the files of images that can be decoded begin.
constexpr std::array<std::string_view, 5> kImageStarts = {
    "\xff\xd8\xff", "\x89PNG\r\n", "RIFF", "BM", "II*"};

const ExampleFeature* Find(const Features& features, std::string_view key) {
  const auto found = std::ranges::find(features, key, &ExampleFeature::key);
  return found == features.end() ? nullptr : &*found;
}

bool IsImage(const ExampleFeature& feature) {
  const auto* values =
      std::get_if<std::vector<std::string_view>>(&feature.values);
  return values != nullptr && values->size() == 1 &&
         std::ranges::any_of(kImageStarts, [&](std::string_view start) {
           return values->front().starts_with(start);
         });
}

bool IsLabel(const ExampleFeature& feature) {
  const auto* values = std::get_if<std::vector<std::int64_t>>(&feature.values);
  return values != nullptr && values->size() == 1;
}

std::string ImageKey(const Features& features) {
  const ExampleFeature* usual = Find(features, "image");
  if (usual != nullptr && IsImage(*usual)) {
    return "image";
  }
  const auto found = std::ranges::find_if(features, IsImage);
  return std::string(found == features.end() ? kImageKey : found->key);
}

std::string LabelKey(const Features& features) {
  for (const std::string_view key : kLabelKeys) {
    const ExampleFeature* feature = Find(features, key);
    if (feature != nullptr && IsLabel(*feature)) {
      return std::string(key);
    }
  }
  return std::string(kLabelKey);
}

RecordKeys Choose(const Features& features, const RecordKeys& given) {
  RecordKeys keys = given;
  if (keys.image == kImageKey && Find(features, kImageKey) == nullptr &&
      Find(features, "image/packed") == nullptr) {
    keys.image = ImageKey(features);
  }
  if (keys.label == kLabelKey && Find(features, kLabelKey) == nullptr) {
    keys.label = LabelKey(features);
  }
  return keys;
}

// The first record of a shard of Examples, -1 if there is none.
std::int64_t FirstExample(const RecordIndex& index) {
  std::int64_t first = 0;
  for (std::size_t shard = 0; shard < index.shards().size(); ++shard) {
    if (index.holds_examples(shard) && index.shard_size(shard) > 0) {
      return first;
    }
    first += index.shard_size(shard);
  }
  return -1;
}

}  // namespace

RecordKeys FindKeys(const RecordIndex& index, const RecordKeys& given) {
  const bool is_open = given.image == kImageKey || given.label == kLabelKey;
  const std::int64_t first = is_open ? FirstExample(index) : -1;
  if (first < 0) {
    return given;
  }
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  const std::int64_t end = std::min(index.size(), first + kMostTries);
  for (std::int64_t record = first; record < end; ++record) {
    try {
      return Choose(ListFeatures(store.Read(record, buffer)), given);
    } catch (const DataError&) {  // Reported when it is read.
    }
  }
  return given;
}

}  // namespace infeed
