#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/choices.h"

namespace infeed {

// The kind of list in a Feature.
enum class FeatureKind { kNone, kBytes, kFloat, kInt64 };

// The type of the items of a fixed field in a batch.
enum class ItemType {
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint16,
  kUint8,
  kBool,
  kFloat32,
  kFloat64,  // raw fields only, as kFloat16
  kFloat16,
};

inline constexpr Choices<ItemType, 10> kItemTypes = {
    {{"int64", ItemType::kInt64},
     {"int32", ItemType::kInt32},
     {"int16", ItemType::kInt16},
     {"int8", ItemType::kInt8},
     {"uint16", ItemType::kUint16},
     {"uint8", ItemType::kUint8},
     {"bool", ItemType::kBool},
     {"float32", ItemType::kFloat32},
     {"float64", ItemType::kFloat64},
     {"float16", ItemType::kFloat16}}};

[[nodiscard]] std::size_t ItemBytes(ItemType type);

// A feature that is read from each Example beside the image.
//
// Ragged, without a shape: a list of any length, empty if the Example does not
// have the key. With a shape each Example must have as many values; numbers,
// and raw bytes, are then fixed: an array of the shape in each slot. The rules
// are those of tf.io.parse_example, but for pad.
struct FieldSpec {
  std::string key;
  FeatureKind kind = FeatureKind::kInt64;  // of the list in the Examples
  // {}: one value. Of bytes that are not raw: {}, or absent.
  std::optional<std::vector<std::int64_t>> shape = {};
  // Of a fixed field's items: an integer or bool of kInt64, kFloat32 of kFloat,
  // any of raw bytes. A value that the type cannot hold is an error.
  ItemType type = ItemType::kInt64;
  // The list is one value of kBytes: all items, little-endian, row-major.
  bool is_raw = false;
  // The bytes of an item: it fills lists that are shorter than the shape, also
  // that of an Example without the key, and longer lists are cut. Empty: none.
  std::string pad = {};
  // The value of Examples without the key: the bytes of all items, or of the
  // bytes themselves. Values equal to pad at its end do not count for the
  // length. Not given: an error.
  std::optional<std::string> absent = {};

  // Whether each slot of a batch has an array of the shape.
  [[nodiscard]] bool IsFixed() const {
    return shape && (is_raw || kind != FeatureKind::kBytes);
  }
  // The number of values of the shape. Requires: there is one.
  [[nodiscard]] std::int64_t items() const;
  // Bytes of a slot's array. Requires: IsFixed().
  [[nodiscard]] std::size_t row_bytes() const;

  friend bool operator==(const FieldSpec&, const FieldSpec&) = default;
};

// Throws UsageError that names the field: a key given twice, a shape without
// values or with more than 2^28, a type that the kind cannot have, pad or
// absent of another size.
void CheckFields(std::span<const FieldSpec> fields);

// The values of one ragged field: a list for each Example, one after the other.
// Only the vectors of the field's kind are filled. Clear() keeps their memory.
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
  // Removes all values but those with these indexes, which ascend. Requires:
  // the column has one list.
  void Keep(std::span<const std::uint32_t> indexes);

  friend bool operator==(const FieldColumn&, const FieldColumn&) = default;
};

// Where the values of one field of one Example go.
struct FieldPlace {
  FieldColumn* column = nullptr;  // of a ragged field
  std::span<std::byte> row = {};  // of a fixed field: row_bytes()
  // Values of a fixed field that are not padding.
  std::int64_t* length = nullptr;
};

// Reads the fields of Examples. One thread at a time; the fields must outlive
// it.
class FieldReader {
 public:
  // max_bytes: of an Example's ragged values together, 8 bytes a number or the
  // bytes and 8 more. Requires: fields are checked.
  FieldReader(std::span<const FieldSpec> fields, std::int64_t max_bytes);

  // Reads an Example's fields in one pass over its features: columns get one
  // list, rows are written. Of a key given twice the last counts. Returns the
  // number of lists that were cut. Throws DataError, with the places
  // unspecified, when the bytes are not an Example, or a feature is not as its
  // field says. Requires: places.size() is that of the fields.
  int Read(std::span<const std::byte> example,
           std::span<const FieldPlace> places);

 private:
  // Finds the entries of the fields.
  void FindEntries(std::span<const std::byte> example);

  const std::span<const FieldSpec> fields_;
  const std::int64_t max_bytes_;
  std::vector<std::span<const std::byte>> entries_;  // of the fields' keys
  // The fields of an Example's entries, in the order of their bytes: a guess
  // for the next one. fields_.size(): none.
  std::vector<std::size_t> order_;
};

// Fills a slot's array of a fixed field with padding, or zeros.
void FillWithPadding(const FieldSpec& field, std::span<std::byte> row);

// Calls visit with a zero of the C++ type of a fixed field's items, and returns
// what it returns; C++ has no type for kFloat16, whose bits are a uint16_t.
template <typename Visit>
auto VisitItem(ItemType type, Visit visit) {
  switch (type) {
    case ItemType::kInt64:
      return visit(std::int64_t{});
    case ItemType::kInt32:
      return visit(std::int32_t{});
    case ItemType::kInt16:
      return visit(std::int16_t{});
    case ItemType::kInt8:
      return visit(std::int8_t{});
    case ItemType::kUint16:
    case ItemType::kFloat16:
      return visit(std::uint16_t{});
    case ItemType::kUint8:
      return visit(std::uint8_t{});
    case ItemType::kBool:
      return visit(bool{});
    case ItemType::kFloat32:
      return visit(float{});
    case ItemType::kFloat64:
      break;
  }
  return visit(double{});
}

}  // namespace infeed
