#include "tools/images/manifest_header.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

// As ManifestColumn counts them.
constexpr std::array<std::string_view, 4> kColumns = {"path", "label", "split",
                                                      "text"};

}  // namespace

std::string ManifestPlace::text() const {
  return PathForMessages(*manifest) + ": line " + std::to_string(line);
}

void FailAt(const ManifestPlace& place, const std::string& reason) {
  throw DataError({.path = PathForMessages(*place.manifest)},
                  "line " + std::to_string(place.line) + ": " + reason);
}

ManifestHeader::ManifestHeader(const std::vector<std::string>& names,
                               const ManifestPlace& place)
    : width_(names.size()) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* const known =
        std::find(kColumns.begin(), kColumns.end(), names[i]);
    if (known == kColumns.end()) {
      FailAt(place, "unknown column \"" + names[i] +
                        "\": the first row names the columns path, label and, "
                        "where they are, split and text");
    }
    Place& column = places_[static_cast<std::size_t>(known - kColumns.begin())];
    if (column) {
      FailAt(place, "column " + names[i] + " is there twice");
    }
    column = i;
  }
  for (const ManifestColumn column :
       {ManifestColumn::kPath, ManifestColumn::kLabel}) {
    if (!Has(column)) {
      FailAt(place,
             "column " +
                 std::string(kColumns[static_cast<std::size_t>(column)]) +
                 " is missing");
    }
  }
}

}  // namespace infeed
