#include "records/example/fields.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/example/example_walk.h"
#include "records/example/reader.h"
#include "records/example/same_key.h"

namespace infeed {
namespace {

constexpr std::int64_t kNumberBytes = 8;
// Entries of an Example whose fields are remembered.
constexpr std::size_t kKnownEntries = 64;
constexpr std::int64_t kMostItems = std::int64_t{1} << 28;

std::string KeyText(const FieldSpec& field) {
  return "Example key '" + field.key + "'";
}

[[noreturn]] void FailFor(const FieldSpec& field, const std::string& what) {
  throw DataError(KeyText(field) + " " + what);
}

// The feature is of the field's kind, or missing.
void RequireKind(const FieldSpec& field, FeatureKind kind) {
  if (kind != FeatureKind::kNone && kind != field.kind) {
    FailFor(field, "holds " + std::string(FeatureKindName(kind)) +
                       ", expected " +
                       std::string(FeatureKindName(field.kind)));
  }
}

// expected: field.items().
void RequireCount(const FieldSpec& field, std::int64_t expected,
                  std::int64_t values) {
  if (values != expected) {
    FailFor(field, "has " + std::to_string(values) + " values, expected " +
                       std::to_string(expected) +
                       (field.kind == FeatureKind::kBytes ? ""
                        : values > expected ? " (give pad to cut them)"
                        : values == 0 && field.absent
                            ? " (absent is for no list, pad for an empty one)"
                            : " (give pad to fill them up)"));
  }
}

std::string_view AbsentOf(const FieldSpec& field) {
  if (!field.absent) {
    FailFor(field, "is missing (give absent)");
  }
  return *field.absent;
}

// Puts the values of one feature into a column, within a budget of bytes.
class ColumnSink {
 public:
  ColumnSink(const FieldSpec& field, std::int64_t& budget, FieldColumn& column)
      : field_(field), budget_(budget), column_(column) {}

  void Begin(FeatureKind kind) {
    if (kind_ != kind) {
      kind_ = kind;
      column_.Clear();
    }
  }
  void Add(std::string_view value) {
    Take(kNumberBytes + static_cast<std::int64_t>(value.size()));
    if (field_.kind == FeatureKind::kBytes) {
      column_.bytes += value;
      column_.byte_offsets.push_back(std::ssize(column_.bytes));
    }
  }
  void Add(float value) {
    Take(kNumberBytes);
    if (field_.kind == FeatureKind::kFloat) {
      column_.floats.push_back(value);
    }
  }
  void Add(std::int64_t value) {
    Take(kNumberBytes);
    if (field_.kind == FeatureKind::kInt64) {
      column_.int64s.push_back(value);
    }
  }

  // Ends the list.
  void Finish() {
    RequireKind(field_, kind_);
    if (field_.shape) {
      if (kind_ == FeatureKind::kNone) {
        Add(AbsentOf(field_));
      }
      RequireCount(field_, field_.items(), column_.values());
    }
    column_.offsets.push_back(column_.values());
  }

 private:
  void Take(std::int64_t bytes) {
    budget_ -= bytes;
    if (budget_ < 0) {
      throw DataError(KeyText(field_) +
                      ": the values of the fields take more than "
                      "max_field_bytes");
    }
  }

  const FieldSpec& field_;
  std::int64_t& budget_;
  FieldColumn& column_;
  FeatureKind kind_ = FeatureKind::kNone;
};

// Puts the values of one feature into a slot's array of T; those beyond its end
// are counted. Row: aligned as T.
template <typename T>
class RowSink {
 public:
  RowSink(const FieldSpec& field, std::int64_t items, std::span<std::byte> row)
      : field_(field), items_(reinterpret_cast<T*>(row.data())), size_(items) {}

  void Begin(FeatureKind kind) {
    if (kind_ != kind) {
      kind_ = kind;
      values_ = 0;
    }
  }
  void Add(std::string_view) { ++values_; }
  void Add(float value) {
    if constexpr (std::floating_point<T>) {
      Store(value);
    }
  }
  void Add(std::int64_t value) {
    if constexpr (std::same_as<T, bool>) {
      Require(value == 0 || value == 1, value);
      Store(value != 0);
    } else if constexpr (std::integral<T>) {
      Require(std::in_range<T>(value), value);
      Store(static_cast<T>(value));
    }
  }

  // Numbers that need no check are written where they belong.
  template <std::same_as<T> Number>
  [[nodiscard]] std::span<T> room(Number /*next*/) const {
    return {items_ + std::min(values_, size_), items_ + size_};
  }
  void Added(std::size_t count) { values_ += static_cast<std::int64_t>(count); }

  [[nodiscard]] FeatureKind kind() const { return kind_; }
  [[nodiscard]] std::int64_t values() const { return values_; }

 private:
  void Require(bool holds, std::int64_t value) const {
    if (!holds && values_ < size_) {
      FailFor(field_, "has " + std::to_string(value) + ", which is no " +
                          std::string(ChoiceName(field_.type, kItemTypes)));
    }
  }
  void Store(T value) {
    if (values_ < size_) {
      items_[values_] = value;
    }
    ++values_;
  }

  const FieldSpec& field_;
  T* const items_;
  const std::int64_t size_;
  std::int64_t values_ = 0;
  FeatureKind kind_ = FeatureKind::kNone;
};

// The one value of a raw field.
class RawSink {
 public:
  void Begin(FeatureKind kind) { kind_ = kind; }
  void Add(std::string_view value) {
    value_ = value;
    ++values_;
  }
  void Add(float) {}
  void Add(std::int64_t) {}

  [[nodiscard]] FeatureKind kind() const { return kind_; }
  [[nodiscard]] std::int64_t values() const { return values_; }
  [[nodiscard]] std::string_view value() const { return value_; }

 private:
  FeatureKind kind_ = FeatureKind::kNone;
  std::int64_t values_ = 0;
  std::string_view value_;
};

void CopyTo(std::string_view bytes, std::span<std::byte> row) {
  std::memcpy(row.data(), bytes.data(), std::min(bytes.size(), row.size()));
}

// Items in memory are in the CPU's byte order.
void CopyItems(const FieldSpec& field, std::string_view raw,
               std::span<std::byte> row) {
  CopyTo(raw, row);
  if constexpr (std::endian::native != std::endian::little) {
    const std::size_t size = ItemBytes(field.type);
    for (std::size_t at = 0; at < row.size(); at += size) {
      std::ranges::reverse(row.subspan(at, size));
    }
  }
}

// A byte of another value would be another number to each program.
void RequireBools(const FieldSpec& field, std::string_view raw) {
  const auto found = std::ranges::find_if(
      raw, [](char item) { return item != 0 && item != 1; });
  if (found != raw.end()) {
    FailFor(field, "has the byte " +
                       std::to_string(static_cast<unsigned char>(*found)) +
                       ", which is no bool");
  }
}

void ReadRaw(const FieldSpec& field, std::span<const std::byte> entry,
             const FieldPlace& place) {
  RawSink sink;
  ReadValues(entry, sink);
  RequireKind(field, sink.kind());
  if (sink.kind() == FeatureKind::kNone) {
    CopyTo(AbsentOf(field), place.row);
  } else if (sink.values() != 1) {
    FailFor(field, "has " + std::to_string(sink.values()) +
                       " values, expected 1 with the bytes of all items");
  } else if (sink.value().size() != place.row.size()) {
    FailFor(field, "has " + std::to_string(sink.value().size()) +
                       " bytes, expected " + std::to_string(place.row.size()));
  } else {
    if (field.type == ItemType::kBool) {
      RequireBools(field, sink.value());
    }
    CopyItems(field, sink.value(), place.row);
  }
  *place.length = field.items();
}

// How many values of `absent` are there before those that are padding.
std::int64_t LengthOfAbsent(const FieldSpec& field) {
  std::string_view values = *field.absent;
  while (!field.pad.empty() && values.ends_with(field.pad)) {
    values.remove_suffix(field.pad.size());
  }
  return static_cast<std::int64_t>(values.size() / ItemBytes(field.type));
}

// Returns whether the list was cut.
template <typename T>
bool ReadRow(const FieldSpec& field, std::span<const std::byte> entry,
             const FieldPlace& place) {
  const std::int64_t items = std::ssize(place.row) / std::int64_t{sizeof(T)};
  RowSink<T> sink(field, items, place.row);
  ReadValues(entry, sink);
  RequireKind(field, sink.kind());
  if (sink.kind() == FeatureKind::kNone &&
      (field.absent || field.pad.empty())) {
    CopyTo(AbsentOf(field), place.row);
    *place.length = LengthOfAbsent(field);
    return false;
  }
  if (field.pad.empty()) {
    RequireCount(field, items, sink.values());
  }
  *place.length = std::min(sink.values(), items);
  FillWithPadding(
      field,
      place.row.subspan(static_cast<std::size_t>(*place.length) * sizeof(T)));
  return sink.values() > items;
}

// Returns whether the list was cut.
bool ReadFixed(const FieldSpec& field, std::span<const std::byte> entry,
               const FieldPlace& place) {
  if (field.is_raw) {
    ReadRaw(field, entry, place);
    return false;
  }
  return VisitItem(field.type, [&]<typename T>(T) {
    return ReadRow<T>(field, entry, place);
  });
}

// Appends a column's offsets to another's that has `values` values.
void AppendOffsets(const std::vector<std::int64_t>& from, std::int64_t values,
                   std::vector<std::int64_t>& to) {
  for (std::size_t i = 1; i < from.size(); ++i) {
    to.push_back(values + from[i]);
  }
}

// Whether a list of this kind holds values of the type.
bool CanHold(FeatureKind kind, ItemType type) {
  switch (type) {
    case ItemType::kFloat64:
    case ItemType::kFloat16:
      return false;
    case ItemType::kFloat32:
      return kind == FeatureKind::kFloat;
    default:
      return kind == FeatureKind::kInt64;
  }
}

// Why a field cannot be read; empty: it can.
std::string Mistake(const FieldSpec& field) {
  if (!field.shape) {
    return field.is_raw                         ? "raw values need a shape"
           : !field.pad.empty() || field.absent ? "pad and absent need a shape"
                                                : "";
  }
  if (const std::int64_t items = field.items();
      items < 1 || items > kMostItems) {
    return "a shape must have 1 to 2^28 values";
  }
  if (!field.IsFixed()) {
    return !field.shape->empty() ? "bytes have no shape but ()"
           : !field.pad.empty()  ? "bytes have no pad"
                                 : "";
  }
  const std::string type(ChoiceName(field.type, kItemTypes));
  if (field.is_raw) {
    if (field.kind != FeatureKind::kBytes || !field.pad.empty()) {
      return "raw values are bytes, and have no pad";
    }
  } else if (!CanHold(field.kind, field.type)) {
    return type + " is read from raw bytes only, or from another kind";
  }
  if (!field.pad.empty() && field.pad.size() != ItemBytes(field.type)) {
    return "pad must be one " + type;
  }
  if (field.absent && field.absent->size() != field.row_bytes()) {
    return "absent must have " + std::to_string(field.items()) + " of " + type;
  }
  return "";
}

}  // namespace

std::size_t ItemBytes(ItemType type) {
  return VisitItem(type, [](auto item) { return sizeof(item); });
}

std::int64_t FieldSpec::items() const {
  std::int64_t items = 1;
  for (const std::int64_t side : *shape) {
    // At most 2^29: no product overflows.
    items = std::clamp<std::int64_t>(side, 0, kMostItems + 1) * items;
    items = std::min(items, kMostItems + 1);
  }
  return items;
}

std::size_t FieldSpec::row_bytes() const {
  return static_cast<std::size_t>(items()) * ItemBytes(type);
}

void CheckFields(std::span<const FieldSpec> fields) {
  std::set<std::string_view> keys;
  for (const FieldSpec& field : fields) {
    if (field.key.empty() || field.kind == FeatureKind::kNone) {
      throw UsageError(
          "fields: each needs a key and one of the kinds bytes, float and "
          "int64");
    }
    const std::string mistake = !keys.insert(field.key).second
                                    ? "the key is given twice"
                                    : Mistake(field);
    if (!mistake.empty()) {
      throw UsageError("fields: '" + field.key + "': " + mistake);
    }
  }
}

std::int64_t FieldColumn::values() const {
  return std::ssize(int64s) + std::ssize(floats) + std::ssize(byte_offsets) - 1;
}

void FieldColumn::Clear() {
  // A batch's columns are its user's, who may have changed the zeros.
  offsets.assign(1, 0);
  int64s.clear();
  floats.clear();
  byte_offsets.assign(1, 0);
  bytes.clear();
}

void FieldColumn::Append(const FieldColumn& other) {
  AppendOffsets(other.offsets, values(), offsets);
  AppendOffsets(other.byte_offsets, std::ssize(bytes), byte_offsets);
  int64s.insert(int64s.end(), other.int64s.begin(), other.int64s.end());
  floats.insert(floats.end(), other.floats.begin(), other.floats.end());
  bytes += other.bytes;
}

void FieldColumn::Keep(std::span<const std::uint32_t> indexes) {
  Check(offsets.size() == 2, "the column has one list");
  const auto keep = [&](auto& list) {
    if (!list.empty()) {
      for (std::size_t i = 0; i < indexes.size(); ++i) {
        list[i] = list[indexes[i]];
      }
      list.resize(indexes.size());
    }
  };
  keep(int64s);
  keep(floats);
  if (byte_offsets.size() > 1) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const auto first = static_cast<std::size_t>(byte_offsets[indexes[i]]);
      const auto next = static_cast<std::size_t>(byte_offsets[indexes[i] + 1]);
      std::memmove(bytes.data() + end, bytes.data() + first, next - first);
      end += next - first;
      byte_offsets[i + 1] = static_cast<std::int64_t>(end);
    }
    bytes.resize(end);
    byte_offsets.resize(indexes.size() + 1);
  }
  offsets[1] = values();
}

FieldReader::FieldReader(std::span<const FieldSpec> fields,
                         std::int64_t max_bytes)
    : fields_(fields),
      max_bytes_(max_bytes),
      entries_(fields.size()),
      order_(kKnownEntries) {}

int FieldReader::Read(std::span<const std::byte> example,
                      std::span<const FieldPlace> places) {
  Check(places.size() == fields_.size(), "each field has a place");
  if (fields_.empty()) {
    return 0;
  }
  FindEntries(example);
  std::int64_t budget = max_bytes_;
  int cut = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (entries_[i].empty() &&
        FeatureListKeys(example).contains(fields_[i].key)) {
      FailFor(
          fields_[i],
          "is in the feature lists of a SequenceExample, which are not read");
    }
    if (fields_[i].IsFixed()) {
      cut += ReadFixed(fields_[i], entries_[i], places[i]) ? 1 : 0;
      continue;
    }
    places[i].column->Clear();
    ColumnSink sink(fields_[i], budget, *places[i].column);
    ReadValues(entries_[i], sink);
    sink.Finish();
  }
  return cut;
}

void FieldReader::FindEntries(std::span<const std::byte> example) {
  std::ranges::fill(entries_, std::span<const std::byte>());
  std::size_t number = 0;
  ForEachEntry(example, [&](std::string_view key,
                            std::span<const std::byte> entry) {
    std::size_t& field = order_[number++ % order_.size()];
    if (field >= fields_.size() || !IsSameKey(fields_[field].key, key)) {
      field = static_cast<std::size_t>(
          std::ranges::find(fields_, key, &FieldSpec::key) - fields_.begin());
    }
    if (field < fields_.size()) {
      entries_[field] = entry;
    }
  });
}

void FillWithPadding(const FieldSpec& field, std::span<std::byte> row) {
  if (field.pad.empty()) {
    std::ranges::fill(row, std::byte{0});
    return;
  }
  for (std::size_t at = 0; at < row.size(); at += field.pad.size()) {
    CopyTo(field.pad, row.subspan(at));
  }
}

}  // namespace infeed
