#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

// Walks the bytes of any tf.train.Example in place: nothing is copied, and
// what it hands out points into those bytes. Throws DataError when they cannot
// be parsed.
namespace infeed {

// What a Feature can hold a list of.
enum class FeatureKind { kNone, kBytes, kFloat, kInt64 };

// Receives the values of one feature.
class FeatureSink {
 public:
  virtual ~FeatureSink() = default;
  // A list begins. As in protobuf, one of another kind replaces what came
  // before it, one of the same kind goes on with it.
  virtual void Begin(FeatureKind kind) = 0;
  virtual void Add(std::string_view value) = 0;
  virtual void Add(float value) = 0;
  virtual void Add(std::int64_t value) = 0;
};

// Calls visit(key, entry) for each entry of the Example's map, in the order of
// its bytes. Unknown fields are skipped; the values are not looked at.
void ForEachEntry(
    std::span<const std::byte> example,
    const std::function<void(std::string_view key,
                             std::span<const std::byte> entry)>& visit);

// Feeds an entry's values to a sink. Lists may be packed or not.
void ReadValues(std::span<const std::byte> entry, FeatureSink& sink);

// One feature with all its values.
struct ExampleFeature {
  std::string_view key;
  // The list that it holds, if any.
  std::variant<std::monostate, std::vector<std::string_view>,
               std::vector<float>, std::vector<std::int64_t>>
      values;
};

// Returns all features of an Example, sorted by key; of a key given twice the
// last.
[[nodiscard]] std::vector<ExampleFeature> ListFeatures(
    std::span<const std::byte> example);

}  // namespace infeed
