#include "records/example/fields.h"

#include <string_view>

#include "base/error.h"

namespace infeed {
namespace {

constexpr std::int64_t kNumberBytes = 8;

// Puts the values of one feature into a column, within a budget of bytes.
class ColumnSink final : public FeatureSink {
 public:
  ColumnSink(const FieldSpec& field, std::int64_t& budget, FieldColumn& column)
      : field_(field), budget_(budget), column_(column) {}

  void Begin(FeatureKind kind) override {
    if (kind_ != kind) {
      kind_ = kind;
      column_.Clear();
    }
  }
  void Add(std::string_view value) override {
    Take(kNumberBytes + static_cast<std::int64_t>(value.size()));
    if (field_.kind == FeatureKind::kBytes) {
      column_.bytes += value;
      column_.byte_offsets.push_back(std::ssize(column_.bytes));
    }
  }
  void Add(float value) override {
    Take(kNumberBytes);
    if (field_.kind == FeatureKind::kFloat) {
      column_.floats.push_back(value);
    }
  }
  void Add(std::int64_t value) override {
    Take(kNumberBytes);
    if (field_.kind == FeatureKind::kInt64) {
      column_.int64s.push_back(value);
    }
  }

  // Ends the list.
  void Finish() {
    if (kind_ != FeatureKind::kNone && kind_ != field_.kind) {
      throw DataError("Example key '" + field_.key + "' holds " +
                      std::string(FeatureKindName(kind_)) + ", expected " +
                      std::string(FeatureKindName(field_.kind)));
    }
    column_.offsets.push_back(column_.values());
  }

 private:
  void Take(std::int64_t bytes) {
    budget_ -= bytes;
    if (budget_ < 0) {
      throw DataError("Example key '" + field_.key +
                      "': the values of the fields take more than "
                      "max_field_bytes");
    }
  }

  const FieldSpec& field_;
  std::int64_t& budget_;
  FieldColumn& column_;
  FeatureKind kind_ = FeatureKind::kNone;
};

// The last entry with this key; empty: none.
std::span<const std::byte> LastEntry(std::span<const std::byte> example,
                                     std::string_view wanted) {
  std::span<const std::byte> last;
  ForEachEntry(example,
               [&](std::string_view key, std::span<const std::byte> entry) {
                 last = key == wanted ? entry : last;
               });
  return last;
}

// Appends a column's offsets to another's that has `values` values.
void AppendOffsets(const std::vector<std::int64_t>& from, std::int64_t values,
                   std::vector<std::int64_t>& to) {
  for (std::size_t i = 1; i < from.size(); ++i) {
    to.push_back(values + from[i]);
  }
}

}  // namespace

std::int64_t FieldColumn::values() const {
  return std::ssize(int64s) + std::ssize(floats) + std::ssize(byte_offsets) - 1;
}

void FieldColumn::Clear() {
  offsets.resize(1);
  int64s.clear();
  floats.clear();
  byte_offsets.resize(1);
  bytes.clear();
}

void FieldColumn::Append(const FieldColumn& other) {
  AppendOffsets(other.offsets, values(), offsets);
  AppendOffsets(other.byte_offsets, std::ssize(bytes), byte_offsets);
  int64s.insert(int64s.end(), other.int64s.begin(), other.int64s.end());
  floats.insert(floats.end(), other.floats.begin(), other.floats.end());
  bytes += other.bytes;
}

void ReadFields(std::span<const std::byte> example,
                std::span<const FieldSpec> fields, std::int64_t max_bytes,
                std::span<FieldColumn> columns) {
  Check(fields.size() == columns.size(), "each field has a column");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    columns[i].Clear();
    ColumnSink sink(fields[i], max_bytes, columns[i]);
    ReadValues(LastEntry(example, fields[i].key), sink);
    sink.Finish();
  }
}

}  // namespace infeed
