#include "records/store/key_guess.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

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
  int floats = 0;

  // A few records may be damaged, a few texts look like an image.
  [[nodiscard]] bool is_image() const { return 2 * images > records; }
  [[nodiscard]] bool is_label() const { return 2 * labels > records; }
  // A number to predict, but no class.
  [[nodiscard]] bool is_float() const { return 2 * floats > records; }
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

bool IsFloat(const ExampleFeature& feature) {
  return std::holds_alternative<std::vector<float>>(feature.values);
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

  // No record could be read, or none has features.
  [[nodiscard]] bool is_empty() const { return features_.empty(); }

  [[nodiscard]] bool Has(std::string_view key) const {
    return features_.contains(key);
  }

  void Forget(std::span<const std::string> keys) {
    for (const std::string& key : keys) {
      features_.erase(key);
    }
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

  [[nodiscard]] bool HasImage(std::string_view key) const {
    return Has(key) || Has("image/packed");
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
        seen.floats += IsFloat(feature) ? 1 : 0;
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
  if (features.HasImage(kImageKey)) {
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

bool IsLabelName(std::string_view key) {
  return std::ranges::find(kLabelKeys, key) != kLabelKeys.end();
}

// The features that may be labels by their names and values.
std::vector<std::string> LabelCandidates(const SeenFeatures& features) {
  return features.Find([](const std::string& key, const SeenFeature& seen) {
    return IsLabelName(key) && seen.is_label();
  });
}

std::string LabelKey(const SeenFeatures& features, const std::string& shard) {
  if (features.Has(kLabelKey)) {
    return std::string(kLabelKey);
  }
  if (features.IsTfds()) {
    return "label";
  }
  std::string key =
      OnlyOne(LabelCandidates(features), shard, "label", "label_key");
  if (key.empty()) {  // A feature of another kind: reading reports it.
    key = OnlyOne(
        features.Find([](const std::string& name, const SeenFeature& seen) {
          return IsLabelName(name) && !seen.is_float();
        }),
        shard, "label", "label_key");
  }
  return key.empty() ? std::string(kLabelKey) : key;
}

// Records without images need no label: if none or several fit it is none.
std::string LabelKeyWithoutImages(const SeenFeatures& features) {
  const std::vector<std::string> found = LabelCandidates(features);
  return found.size() == 1 && !features.Has(kLabelKey) ? found.front()
                                                       : std::string(kLabelKey);
}

// The keys that were seen in some records, with the kinds of their lists.
using KeyKinds = std::map<std::string, std::set<FeatureKind>>;

struct SearchedKeys {
  KeyKinds keys = {};
  std::set<std::string> lists = {};  // of SequenceExamples, which are not read
  std::int64_t records = 0;          // that may be searched
};

std::string Joined(const KeyKinds& keys) {
  std::string names;
  for (const auto& [key, kinds] : keys) {
    names.append(names.empty() ? "" : ", ").append(key);
  }
  return names;
}

// Searches records spread over the data until is_enough(keys).
SearchedKeys SearchKeys(const RecordIndex& index, const std::string& image_key,
                        const std::function<bool(const KeyKinds&)>& is_enough) {
  SearchedKeys seen = {.records = std::min(kMostSearched, index.size())};
  const auto note = [&](std::span<const std::byte> payload) {
    try {
      for (const ExampleFeature& feature : ListFeatures(payload)) {
        // The variant's alternatives are in the order of the kinds.
        seen.keys[std::string(feature.key)].insert(
            static_cast<FeatureKind>(feature.values.index()));
      }
      for (const std::string_view key : FeatureListKeys(payload)) {
        seen.lists.emplace(key);
      }
    } catch (const DataError&) {  // Reported when it is read.
    }
  };
  const RecordStore store(index, {.image_key = image_key});
  for (std::int64_t done = 0; done < seen.records && !is_enough(seen.keys);) {
    std::vector<std::int64_t> records;
    for (; done < seen.records && std::ssize(records) < kMostSamples; ++done) {
      // A compressed shard is not read here and there.
      records.push_back(
          index.any_compressed() ? done : done * index.size() / seen.records);
    }
    store.ReadMany(
        records,
        [&](std::size_t, std::span<const std::byte> payload) { note(payload); },
        [](std::size_t, const DataError&) {});
  }
  return seen;
}

// Whether some record has the field's key, with a list of its kind or an empty
// one.
bool MayHold(const KeyKinds& keys, const FieldSpec& field) {
  const auto kinds = keys.find(field.key);
  return kinds != keys.end() && (field.kind == FeatureKind::kNone ||
                                 kinds->second.contains(field.kind) ||
                                 kinds->second.contains(FeatureKind::kNone));
}

// Why no record holds the field. total: records of the data.
std::string WhyNone(const FieldSpec& field, const SearchedKeys& seen,
                    std::int64_t total) {
  const std::string text =
      "none of " + std::to_string(seen.records) + " records" +
      (seen.records < total
           ? " (those searched, of " + std::to_string(total) + ")"
           : "") +
      " has \"" + field.key + "\"";
  const auto kinds = seen.keys.find(field.key);
  if (kinds == seen.keys.end()) {
    return text + "; they have " + Joined(seen.keys);
  }
  return text + " as " + std::string(FeatureKindName(field.kind)) +
         "; it holds " + std::string(FeatureKindName(*kinds->second.begin()));
}

}  // namespace

RecordKeys FindKeys(const RecordIndex& index, const RecordKeys& given,
                    std::span<const std::string> not_labels) {
  const std::optional<KeyedShard> place = FindShard(index);
  if (!place) {
    return index.any_examples() ? given : RecordKeys();
  }
  const std::string& shard = index.shards()[place->number];
  const bool is_tar = !index.holds_examples(place->number);
  if (is_tar && !given.label.empty() && given.label != kLabelKey) {
    throw UsageError("label_key=" + given.label + ": the label of a tar's " +
                     "sample is in its .cls, else in its .json: give " +
                     "label_key=" + std::string(kLabelKey));
  }
  RecordKeys keys = given;
  const bool wants_label = !is_tar && given.label == kLabelKey;
  if (given.image == kImageKey || wants_label) {
    SeenFeatures features(index, place->number, place->first);
    keys.image =
        given.image == kImageKey ? ImageKey(features, shard) : given.image;
    if (wants_label) {
      const bool has_image = features.HasImage(keys.image);
      features.Forget(not_labels);
      keys.label = has_image ? LabelKey(features, shard)
                             : LabelKeyWithoutImages(features);
    }
  }
  return keys;
}

bool HasTfdsKeys(const RecordIndex& index) {
  const std::optional<KeyedShard> place = FindShard(index);
  return place && index.holds_examples(place->number) &&
         SeenFeatures(index, place->number, place->first).IsTfds();
}

void RequireFeatures(const RecordIndex& index, const std::string& image_key,
                     std::span<const FieldSpec> wanted) {
  const auto missing = [&](const KeyKinds& keys) {
    return std::ranges::find_if(
        wanted, [&](const FieldSpec& field) { return !MayHold(keys, field); });
  };
  const SearchedKeys seen = SearchKeys(index, image_key, [&](const auto& keys) {
    return missing(keys) == wanted.end();
  });
  const auto first = missing(seen.keys);
  if (first != wanted.end() && seen.lists.contains(first->key)) {
    throw UsageError("\"" + first->key +
                     "\" is in the feature lists of SequenceExamples, which "
                     "are not read; their context has " +
                     (seen.keys.empty() ? "no keys" : Joined(seen.keys)));
  }
  if (first != wanted.end() && !seen.keys.empty()) {
    throw UsageError(WhyNone(*first, seen, index.size()));
  }
}

void RequireImages(const RecordIndex& index, const std::string& image_key) {
  const std::optional<KeyedShard> place = FindShard(index);
  if (!place || !index.holds_examples(place->number)) {
    return;
  }
  const std::string& shard = index.shards()[place->number];
  const SeenFeatures features(index, place->number, place->first);
  const std::string key =
      image_key == kImageKey ? ImageKey(features, shard) : image_key;
  if (features.HasImage(key)) {
    return;
  }
  const auto has_image = [&](const KeyKinds& keys) {
    return keys.contains(key) || keys.contains("image/packed");
  };
  const SearchedKeys seen = SearchKeys(index, key, has_image);
  if (!has_image(seen.keys) && !seen.keys.empty()) {
    throw UsageError(PathForMessages(shard) + ": the records have no images (" +
                     key + "); they have " + Joined(seen.keys));
  }
}

bool MayHaveLabels(const RecordIndex& index,
                   std::span<const std::string> not_labels) {
  std::int64_t first = 0;
  for (std::size_t shard = 0; shard < index.shards().size(); ++shard) {
    const std::int64_t end = first + index.shard_size(shard);
    for (; first < end && !index.holds_examples(shard); ++first) {
      if (index.label(first) != kNoLabel) {
        return true;
      }
    }
    first = end;
  }
  if (index.any_examples()) {
    const auto may_be_label = [&](const KeyKinds::value_type& feature) {
      const auto& [key, kinds] = feature;
      return (key == kLabelKey || IsLabelName(key)) &&
             kinds != std::set{FeatureKind::kFloat} &&
             std::ranges::find(not_labels, key) == not_labels.end();
    };
    const auto has_label = [&](const KeyKinds& keys) {
      return std::ranges::any_of(keys, may_be_label);
    };
    const SearchedKeys seen =
        SearchKeys(index, std::string(kImageKey), has_label);
    return seen.keys.empty() || has_label(seen.keys);
  }
  const std::optional<KeyedShard> tar = FindShard(index);
  if (!tar) {
    return false;
  }
  const SeenFeatures seen(index, tar->number, tar->first);
  return seen.is_empty() || seen.Has("cls");
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
