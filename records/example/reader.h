#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

// Parses any tf.train.Example in place: the results are views into its bytes,
// and nothing is copied. Throws DataError when the bytes cannot be parsed.
namespace infeed {

// The kind of list in a Feature.
enum class FeatureKind { kNone, kBytes, kFloat, kInt64 };

// "bytes", "float", "int64", or "nothing".
[[nodiscard]] std::string_view FeatureKindName(FeatureKind kind);

// Receives the values of one feature.
class FeatureSink {
 public:
  virtual ~FeatureSink() = default;
  // A list begins. As in protobuf, a list of the same kind continues the list
  // before it; a list of another kind replaces it.
  virtual void Begin(FeatureKind kind) = 0;
  virtual void Add(std::string_view value) = 0;
  virtual void Add(float value) = 0;
  virtual void Add(std::int64_t value) = 0;
  // Several values of a list, one after the other.
  virtual void AddAll(std::span<const float> values);
  virtual void AddAll(std::span<const std::int64_t> values);
};

// Calls visit(key, entry) for each entry of the Example's map, in the order of
// the bytes. Skips unknown fields and does not parse the values.
void ForEachEntry(
    std::span<const std::byte> example,
    const std::function<void(std::string_view key,
                             std::span<const std::byte> entry)>& visit);

// The keys of the feature lists, if the bytes are a SequenceExample; its
// context is read as an Example's features, the lists are not.
[[nodiscard]] std::set<std::string_view> FeatureListKeys(
    std::span<const std::byte> example);

// Passes an entry's values to a sink. Lists may be packed or not.
void ReadValues(std::span<const std::byte> entry, FeatureSink& sink);

// One feature with all its values.
struct ExampleFeature {
  std::string_view key;
  // The feature's list, if any.
  std::variant<std::monostate, std::vector<std::string_view>,
               std::vector<float>, std::vector<std::int64_t>>
      values;
};

// Returns all features of an Example, sorted by key; of duplicate keys the
// last. unreadable: receives the number of features that cannot be parsed, and
// that are left out; null: they are an error.
[[nodiscard]] std::vector<ExampleFeature> ListFeatures(
    std::span<const std::byte> example, int* unreadable = nullptr);

}  // namespace infeed
