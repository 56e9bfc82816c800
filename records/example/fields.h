#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "records/example/reader.h"

namespace infeed {

// A feature that is read from each Example beside the image.
struct FieldSpec {
  std::string key;
  FeatureKind kind = FeatureKind::kInt64;

  friend bool operator==(const FieldSpec&, const FieldSpec&) = default;
};

// The values of one field: a list for each Example, one after the other. Only
// the vectors of the field's kind are filled. Clear() keeps their memory.
struct FieldColumn {
  // List i has the values from offsets[i] to before offsets[i + 1].
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int64_t> int64s = {};  // kInt64
  std::vector<float> floats = {};         // kFloat
  // kBytes: value i is bytes[byte_offsets[i]] to before
  // bytes[byte_offsets[i + 1]].
  std::vector<std::int64_t> byte_offsets = {0};
  std::string bytes = {};

  // The number of values of all lists.
  [[nodiscard]] std::int64_t values() const;

  // Removes all lists.
  void Clear();
  // Appends an empty list.
  void AppendEmpty() { offsets.push_back(offsets.back()); }
  // Appends the lists of a column of the same kind.
  void Append(const FieldColumn& other);

  friend bool operator==(const FieldColumn&, const FieldColumn&) = default;
};

// Reads the fields of an Example: columns[i] gets the one list of fields[i],
// empty if the Example does not have the feature. Of a key given twice the last
// counts. Throws DataError, with columns unspecified, when the bytes are not an
// Example, when a feature has another kind than its field, or when the values,
// 8 bytes a number or the bytes and 8 more, take more than max_bytes together.
// Requires: as many columns as fields; no field is of kind kNone.
void ReadFields(std::span<const std::byte> example,
                std::span<const FieldSpec> fields, std::int64_t max_bytes,
                std::span<FieldColumn> columns);

}  // namespace infeed
