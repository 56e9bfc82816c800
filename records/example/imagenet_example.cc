#include "records/example/imagenet_example.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/error.h"
#include "records/example/builder.h"
#include "records/example/example_walk.h"
#include "records/example/reader.h"

namespace infeed {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kHeight = "image/height";
constexpr std::string_view kWidth = "image/width";
constexpr std::string_view kSynset = "image/class/synset";
constexpr std::string_view kText = "image/class/text";
constexpr std::string_view kFormat = "image/format";
constexpr std::string_view kFilename = "image/filename";
constexpr std::string_view kPackedKey = "image/packed";
constexpr std::string_view kSeekIndex = "image/seek_index";

// Keeps the single value of a known key, and counts how many values there are.
template <typename T>
class OneValue {
 public:
  static constexpr FeatureKind kKind = std::is_same_v<T, std::int64_t>
                                           ? FeatureKind::kInt64
                                           : FeatureKind::kBytes;

  void Begin(FeatureKind kind) {
    if (kind_ != kind) {
      kind_ = kind;
      count_ = 0;
    }
  }
  void Add(std::string_view value) { Keep(value); }
  void Add(float value) { Keep(value); }
  void Add(std::int64_t value) { Keep(value); }

  [[nodiscard]] bool IsOne() const { return kind_ == kKind && count_ == 1; }

  // Returns the value, or `absent` when the feature is empty.
  [[nodiscard]] T Or(T absent, std::string_view key) const {
    if (kind_ == FeatureKind::kNone) {
      return absent;
    }
    if (kind_ != kKind) {
      throw DataError("Example key '" + std::string(key) + "' holds " +
                      std::string{FeatureKindName(kind_)} + ", expected " +
                      std::string{FeatureKindName(kKind)});
    }
    if (count_ != 1) {
      throw DataError("Example key '" + std::string(key) + "' has " +
                      std::to_string(count_) + " values, expected 1");
    }
    return value_;
  }

 private:
  template <typename U>
  void Keep(U value) {
    ++count_;
    if constexpr (std::is_same_v<T, U>) {
      value_ = value;
    }
  }

  FeatureKind kind_ = FeatureKind::kNone;
  std::int64_t count_ = 0;
  T value_{};
};

// The entries of the Example's map for the known keys; of duplicate keys the
// last.
class KnownEntries {
 public:
  KnownEntries(Bytes example, const ExampleKeys& keys)
      : entries_({{{keys.image, {}},
                   {kPackedKey, {}},
                   {kSeekIndex, {}},
                   {keys.label, {}},
                   {kFormat, {}},
                   {kHeight, {}},
                   {kWidth, {}},
                   {kSynset, {}},
                   {kText, {}},
                   {kFilename, {}}}}) {
    ForEachEntry(example, [this](std::string_view key, Bytes entry) {
      for (KnownEntry& known : entries_) {
        if (known.key == key) {
          known.entry = entry;
        }
      }
    });
  }

  template <typename T>
  [[nodiscard]] T Get(std::string_view key, T absent) const {
    return Find<T>(key).Or(absent, key);
  }

  // For optional features: an unusable one counts as absent.
  template <typename T>
  [[nodiscard]] T GetIfGood(std::string_view key, T absent) const {
    const OneValue<T> value = Find<T>(key);
    return value.IsOne() ? value.Or(absent, key) : absent;
  }

 private:
  template <typename T>
  [[nodiscard]] OneValue<T> Find(std::string_view key) const {
    OneValue<T> value;
    // A data set's own key may be one of the others: the first one counts.
    ReadValues(std::ranges::find(entries_, key, &KnownEntry::key)->entry,
               value);
    return value;
  }

  struct KnownEntry {
    std::string_view key;
    Bytes entry;
  };
  std::array<KnownEntry, 10> entries_;
};

}  // namespace

std::string BuildImagenetExample(const ImagenetExample& example) {
  const ExampleParts parts = BuildExampleParts(example);
  return parts.before + std::string(parts.image) + parts.after;
}

ImagenetExampleView ParseImagenetExample(std::span<const std::byte> payload,
                                         LabelList labels,
                                         const ExampleKeys& keys) {
  const KnownEntries entries(payload, keys);
  ImagenetExampleView view;
  view.encoded =
      std::as_bytes(std::span(entries.Get(keys.image, std::string_view())));
  view.packed =
      std::as_bytes(std::span(entries.Get(kPackedKey, std::string_view())));
  view.seek_index = std::as_bytes(
      std::span(entries.GetIfGood(kSeekIndex, std::string_view())));
  view.label = labels == LabelList::kOne
                   ? entries.Get(keys.label, view.label)
                   : entries.GetIfGood(keys.label, view.label);
  view.format = entries.Get(kFormat, view.format);
  view.height = entries.Get(kHeight, view.height);
  view.width = entries.Get(kWidth, view.width);
  view.synset = entries.Get(kSynset, view.synset);
  view.text = entries.Get(kText, view.text);
  view.filename = entries.Get(kFilename, view.filename);
  return view;
}

Bytes ImageUnder(Bytes payload, std::string_view key) {
  Bytes found;
  ForEachEntry(payload, [&](std::string_view name, Bytes entry) {
    found = name == key ? entry : found;
  });
  OneValue<std::string_view> value;
  ReadValues(found, value);
  const std::string_view image = value.Or({}, key);
  if (image.empty()) {
    RequireImageKey(payload, key, "give another key to the view");
    throw DataError("Example key '" + std::string(key) + "' is empty");
  }
  return std::as_bytes(std::span(image));
}

void RequireImageKey(Bytes payload, std::string_view image_key,
                     std::string_view advice) {
  std::string there;
  for (const ExampleFeature& feature : ListFeatures(payload)) {
    if (feature.key == image_key) {
      return;
    }
    there.append(there.empty() ? "" : ", ").append(feature.key);
  }
  throw DataError("no " + std::string(image_key) +
                  (there.empty()
                       ? ": it has no features"
                       : "; it has " + there + ": " + std::string(advice)));
}

}  // namespace infeed
