#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace infeed {

// A line of a manifest, for messages.
struct ManifestPlace {
  const std::string* manifest = nullptr;
  std::int64_t line = 0;  // from 1

  // "FILE: line 7"
  [[nodiscard]] std::string text() const;
};

// Throws the DataError of a line.
[[noreturn]] void FailAt(const ManifestPlace& place, const std::string& reason);

enum class ManifestColumn { kPath, kLabel, kSplit, kText };

// Where each column of a manifest stands in a row. Throws DataError for a first
// row with a column that is unknown or there twice, or without path or label.
class ManifestHeader {
 public:
  ManifestHeader(const std::vector<std::string>& names,
                 const ManifestPlace& place);

  [[nodiscard]] bool Has(ManifestColumn column) const {
    return place_of(column).has_value();
  }
  [[nodiscard]] std::size_t width() const { return width_; }

  // A row's value, "" where the column is not there. Requires: the row has
  // width() fields.
  [[nodiscard]] std::string Get(ManifestColumn column,
                                const std::vector<std::string>& fields) const {
    return Has(column) ? fields[*place_of(column)] : std::string();
  }

 private:
  using Place = std::optional<std::size_t>;

  [[nodiscard]] const Place& place_of(ManifestColumn column) const {
    return places_[static_cast<std::size_t>(column)];
  }

  std::size_t width_;
  std::array<Place, 4> places_;
};

}  // namespace infeed
