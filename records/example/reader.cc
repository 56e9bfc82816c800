#include "records/example/reader.h"

#include <map>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/example/example_walk.h"
#include "records/example/wire_cursor.h"

namespace infeed {
namespace {

using example_walk::Bytes;
using example_walk::ForEachBytes;

constexpr std::uint32_t kFeatureLists = WireTag(2, WireType::kBytes);

// Keeps all values of a feature.
class AllValues {
 public:
  explicit AllValues(ExampleFeature& feature) : feature_(feature) {}

  void Begin(FeatureKind kind) {
    switch (kind) {
      case FeatureKind::kNone:
        break;
      case FeatureKind::kBytes:
        return BeginListOf<std::string_view>();
      case FeatureKind::kFloat:
        return BeginListOf<float>();
      case FeatureKind::kInt64:
        return BeginListOf<std::int64_t>();
    }
  }
  void Add(std::string_view value) { Append(value); }
  void Add(float value) { Append(value); }
  void Add(std::int64_t value) { Append(value); }

 private:
  template <typename T>
  void BeginListOf() {
    if (!std::holds_alternative<std::vector<T>>(feature_.values)) {
      feature_.values = std::vector<T>();
    }
  }
  template <typename T>
  void Append(T value) {
    std::get<std::vector<T>>(feature_.values).push_back(value);
  }

  ExampleFeature& feature_;
};

}  // namespace

std::string_view FeatureKindName(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kNone:
      break;
    case FeatureKind::kBytes:
      return "bytes";
    case FeatureKind::kFloat:
      return "float";
    case FeatureKind::kInt64:
      return "int64";
  }
  return "nothing";
}

std::set<std::string_view> FeatureListKeys(std::span<const std::byte> example) {
  std::set<std::string_view> keys;
  try {
    ForEachBytes(example, kFeatureLists, [&](Bytes lists) {
      ForEachBytes(lists, example_walk::kEntry, [&](Bytes entry) {
        ForEachBytes(entry, example_walk::kKey,
                     [&](Bytes text) { keys.insert(AsChars(text)); });
      });
    });
  } catch (const DataError&) {  // An unknown field of an Example.
    keys.clear();
  }
  return keys;
}

std::vector<ExampleFeature> ListFeatures(std::span<const std::byte> example,
                                         int* unreadable) {
  std::map<std::string_view, Bytes> entries;
  ForEachEntry(example, [&](std::string_view key, Bytes entry) {
    entries[key] = entry;
  });
  std::vector<ExampleFeature> features;
  for (const auto& [key, entry] : entries) {
    features.push_back({.key = key, .values = {}});
    AllValues values(features.back());
    try {
      ReadValues(entry, values);
    } catch (const DataError&) {
      if (unreadable == nullptr) {
        throw;
      }
      features.pop_back();
      ++*unreadable;
    }
  }
  return features;
}

}  // namespace infeed
