#include "records/example/reader.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.h"
#include "records/bytes/json.h"
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

namespace {

using Features = std::vector<ExampleFeature>;

constexpr std::size_t kMostShown = 40;

// With escapes, and shortened.
std::string ShownJson(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)
      .substr(0, 2 * kMostShown);
}

// In quotes.
std::string ShownText(std::string_view text) {
  return ShownJson(nlohmann::json(text.substr(0, kMostShown)));
}

template <typename Number>
std::string ShownNumbers(const std::vector<Number>& numbers) {
  std::ostringstream text;
  if (numbers.size() == 1) {
    text << "is " << (std::is_same_v<Number, float> ? "the float " : "")
         << numbers.front();
    return text.str();
  }
  const auto ones = std::ranges::count(numbers, Number{1});
  const auto zeros = std::ranges::count(numbers, Number{0});
  text << "has " << numbers.size() << " numbers";
  if (ones == 1 && ones + zeros == std::ssize(numbers)) {
    text << ", a one-hot label";
  }
  return text.str();
}

// Describes a feature that is not a label.
struct Describe {
  std::string operator()(std::monostate /*none*/) const { return "is empty"; }
  std::string operator()(const std::vector<std::string_view>& texts) const {
    return texts.size() == 1 ? "is the text " + ShownText(texts.front())
                             : "has " + std::to_string(texts.size()) + " texts";
  }
  std::string operator()(const std::vector<float>& numbers) const {
    return ShownNumbers(numbers);
  }
  std::string operator()(const std::vector<std::int64_t>& numbers) const {
    return ShownNumbers(numbers);
  }
};

const ExampleFeature* FindFeature(const Features& features,
                                  std::string_view key) {
  const auto found = std::ranges::find(features, key, &ExampleFeature::key);
  return found == features.end() ? nullptr : &*found;
}

// A tar's sample: its label would be in one of two members.
std::string WhyNoneInSample(const Features& features) {
  if (const ExampleFeature* cls = FindFeature(features, "cls")) {
    return "its .cls " + std::visit(Describe{}, cls->values) +
           ", not a whole number from 0 on; other targets are read by fields";
  }
  std::string text = "it has no .cls";
  const ExampleFeature* member = FindFeature(features, "json");
  const auto* texts =
      member == nullptr
          ? nullptr
          : std::get_if<std::vector<std::string_view>>(&member->values);
  if (texts == nullptr || texts->empty()) {
    return text + " and no .json";
  }
  auto json = ParseJsonOrDiscard<nlohmann::json>(texts->front());
  for (const char* key : {"label", "cls", "class"}) {
    if (json.is_object() && json.contains(key)) {
      return text + ", and " + key + " in its .json is " +
             ShownJson(json[key]) + ", not a whole number from 0 on";
    }
  }
  return text + ", and no label, cls or class in its .json";
}

}  // namespace

std::string WhyNoLabel(std::span<const std::byte> payload,
                       std::string_view label_key) {
  const Features features = ListFeatures(payload);
  const std::string key(label_key);
  const std::string begin = "there is no label: ";
  if (const ExampleFeature* label = FindFeature(features, label_key)) {
    return begin + key + " " + std::visit(Describe{}, label->values) +
           "; a label is one whole number, from 0 or 1 on; other targets are "
           "read by fields";
  }
  if (FindFeature(features, "__key__") != nullptr) {
    return begin + WhyNoneInSample(features);
  }
  std::string names;
  for (const ExampleFeature& feature : features) {
    names.append(names.empty() ? "" : ", ").append(feature.key);
  }
  return begin + "no " + key +
         (names.empty() ? ""
                        : "; the record has " + names +
                              ": give label_key, or fields for other targets");
}

}  // namespace infeed
