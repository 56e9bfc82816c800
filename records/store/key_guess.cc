#include "records/store/key_guess.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/bytes/image_header.h"
#include "records/example/reader.h"
#include "records/files/open_source.h"
#include "records/store/record_store.h"

namespace infeed {
namespace {

// Records that are looked at, damaged ones included.
constexpr std::int64_t kMostSamples = 8;
// Records that are searched for a feature.
constexpr std::int64_t kMostSearched = 1000;

constexpr std::array<std::string_view, 5> kLabelKeys = {
    "label", "image/label", "class", "image/object/class/label", "target"};

// In how many records a feature was seen, and as what.
struct SeenFeature {
  int records = 0;
  int images = 0;
  int labels = 0;

  // A few records may be damaged, a few texts look like an image.
  [[nodiscard]] bool is_image() const { return 2 * images > records; }
  [[nodiscard]] bool is_label() const { return 2 * labels > records; }
};

bool IsImage(const ExampleFeature& feature) {
  const auto* values =
      std::get_if<std::vector<std::string_view>>(&feature.values);
  return values != nullptr && values->size() == 1 &&
         !FindImageFormat(std::as_bytes(std::span(values->front()))).empty();
}

bool IsLabel(const ExampleFeature& feature) {
  const auto* values = std::get_if<std::vector<std::int64_t>>(&feature.values);
  return values != nullptr && values->size() == 1;
}

// The features of the first records of a shard.
class SeenFeatures {
 public:
  explicit SeenFeatures(std::span<const std::byte> payload) { Add(payload); }
  SeenFeatures(const RecordIndex& index, std::size_t shard,
               std::int64_t first) {
    std::vector<std::int64_t> records(static_cast<std::size_t>(
        std::min(kMostSamples, index.shard_size(shard))));
    std::iota(records.begin(), records.end(), first);
    RecordStore(index).ReadMany(
        records,
        [this](std::size_t, std::span<const std::byte> payload) {
          Add(payload);
        },
        [](std::size_t, const DataError&) {});
  }

  [[nodiscard]] bool Has(std::string_view key) const {
    return features_.contains(key);
  }

  // The features for which `fits` is true, sorted by key.
  template <typename Fits>
  [[nodiscard]] std::vector<std::string> Find(const Fits& fits) const {
    std::vector<std::string> found;
    for (const auto& [key, seen] : features_) {
      if (fits(key, seen)) {
        found.push_back(key);
      }
    }
    return found;
  }

  // Whether the keys are those of TensorFlow Datasets.
  [[nodiscard]] bool IsTfds() const {
    const auto image = features_.find("image");
    const auto label = features_.find("label");
    return image != features_.end() && image->second.is_image() &&
           label != features_.end() && label->second.is_label();
  }

 private:
  void Add(std::span<const std::byte> payload) {
    try {
      for (const ExampleFeature& feature : ListFeatures(payload)) {
        SeenFeature& seen = features_[std::string(feature.key)];
        ++seen.records;
        seen.images += IsImage(feature) ? 1 : 0;
        seen.labels += IsLabel(feature) ? 1 : 0;
      }
    } catch (const DataError&) {  // Reported when it is read.
    }
  }

  std::map<std::string, SeenFeature, std::less<>> features_;
};

// A shard of records with keys.
struct KeyedShard {
  std::size_t number = 0;
  std::int64_t first = 0;  // its first record
};

// The first shard of Examples, or else of tars, with records.
std::optional<KeyedShard> FindShard(const RecordIndex& index) {
  for (const RecordFormat format :
       {RecordFormat::kTfrecord, RecordFormat::kTar}) {
    KeyedShard shard;
    for (; shard.number < index.shards().size(); ++shard.number) {
      const std::int64_t records = index.shard_size(shard.number);
      if (index.format(shard.number) == format && records > 0) {
        return shard;
      }
      shard.first += records;
    }
  }
  return std::nullopt;
}

// The only candidate; "": none.
std::string OnlyOne(const std::vector<std::string>& candidates,
                    const std::string& shard, std::string_view what,
                    std::string_view option) {
  if (candidates.size() > 1) {
    throw UsageError(PathForMessages(shard) + ": " + candidates[0] + " and " +
                     candidates[1] + " may both be the " + std::string(what) +
                     " of its records: give " + std::string(option) + "=" +
                     candidates[0] + " or another");
  }
  return candidates.empty() ? "" : candidates.front();
}

std::string ImageKey(const SeenFeatures& features, const std::string& shard) {
  if (features.Has(kImageKey) || features.Has("image/packed")) {
    return std::string(kImageKey);
  }
  if (features.IsTfds()) {
    return "image";
  }
  const std::string key =
      OnlyOne(features.Find([](const std::string&, const SeenFeature& seen) {
        return seen.is_image();
      }),
              shard, "image", "image_key");
  return key.empty() ? std::string(kImageKey) : key;
}

std::string LabelKey(const SeenFeatures& features, const std::string& shard) {
  if (features.Has(kLabelKey)) {
    return std::string(kLabelKey);
  }
  if (features.IsTfds()) {
    return "label";
  }
  const auto has_name = [](std::string_view key) {
    return std::ranges::find(kLabelKeys, key) != kLabelKeys.end();
  };
  std::string key = OnlyOne(
      features.Find([&](const std::string& name, const SeenFeature& seen) {
        return has_name(name) && seen.is_label();
      }),
      shard, "label", "label_key");
  if (key.empty()) {  // A feature of another kind: reading reports it.
    key =
        OnlyOne(features.Find([&](const std::string& name, const SeenFeature&) {
          return has_name(name);
        }),
                shard, "label", "label_key");
  }
  return key.empty() ? std::string(kLabelKey) : key;
}

}  // namespace

RecordKeys FindKeys(const RecordIndex& index, const RecordKeys& given) {
  const std::optional<KeyedShard> place = FindShard(index);
  if (!place) {
    return index.any_examples() ? given : RecordKeys();
  }
  const std::string& shard = index.shards()[place->number];
  const bool is_tar = !index.holds_examples(place->number);
  if (is_tar && !given.label.empty() && given.label != kLabelKey) {
    throw UsageError("label_key=" + given.label + ": the label of a tar's " +
                     "sample is in its .cls, else in its .json; leave " +
                     "label_key out");
  }
  RecordKeys keys = given;
  const bool wants_label = !is_tar && given.label == kLabelKey;
  if (given.image == kImageKey || wants_label) {
    const SeenFeatures features(index, place->number, place->first);
    keys.image =
        given.image == kImageKey ? ImageKey(features, shard) : given.image;
    keys.label = wants_label ? LabelKey(features, shard) : given.label;
  }
  return keys;
}

void RequireFeatures(const RecordIndex& index, const std::string& image_key,
                     const std::vector<std::string>& wanted) {
  const std::int64_t most = std::min(kMostSearched, index.size());
  std::set<std::string> missing(wanted.begin(), wanted.end());
  std::set<std::string> present;
  const auto note = [&](std::span<const std::byte> payload) {
    try {
      for (const ExampleFeature& feature : ListFeatures(payload)) {
        present.emplace(feature.key);
        missing.erase(std::string(feature.key));
      }
    } catch (const DataError&) {  // Reported when it is read.
    }
  };
  const RecordStore store(index, {.image_key = image_key});
  for (std::int64_t done = 0; done < most && !missing.empty();) {
    std::vector<std::int64_t> records;
    for (; done < most && std::ssize(records) < kMostSamples; ++done) {
      // A compressed shard is not read here and there.
      records.push_back(index.any_compressed() ? done
                                               : done * index.size() / most);
    }
    store.ReadMany(
        records,
        [&](std::size_t, std::span<const std::byte> payload) { note(payload); },
        [](std::size_t, const DataError&) {});
  }
  if (!missing.empty() && !present.empty()) {
    std::string names;
    for (const std::string& key : present) {
      names.append(names.empty() ? "" : ", ").append(key);
    }
    throw UsageError("fields: none of " + std::to_string(most) +
                     " records has \"" + *missing.begin() + "\"; they have " +
                     names);
  }
}

std::string FindLabelKey(const RecordIndex& index, const std::string& given) {
  const std::optional<KeyedShard> place = FindShard(index);
  if (given != kLabelKey || !place || !index.holds_examples(place->number)) {
    return given;
  }
  return LabelKey(SeenFeatures(index, place->number, place->first),
                  index.shards()[place->number]);
}

std::string LabelKeyOf(std::span<const std::byte> payload,
                       const std::string& shard) {
  return LabelKey(SeenFeatures(payload), shard);
}

}  // namespace infeed
