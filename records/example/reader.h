#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "records/example/fields.h"

// Parses any tf.train.Example in place: the results are views into its bytes,
// and nothing is copied. Throws DataError when the bytes cannot be parsed.
namespace infeed {

// "bytes", "float", "int64", or "nothing".
[[nodiscard]] std::string_view FeatureKindName(FeatureKind kind);

// The keys of the feature lists, if the bytes are a SequenceExample; its
// context is read as an Example's features, the lists are not.
[[nodiscard]] std::set<std::string_view> FeatureListKeys(
    std::span<const std::byte> example);

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

// Returns why a record's label is kNoLabel, for its DataError: what is under
// the key instead of one whole number, or which keys the record has. Throws
// DataError when the bytes are not an Example.
[[nodiscard]] std::string WhyNoLabel(std::span<const std::byte> payload,
                                     std::string_view label_key);

}  // namespace infeed
