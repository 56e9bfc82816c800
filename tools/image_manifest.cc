#include "tools/image_manifest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tools/csv.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
constexpr std::array<const char*, 3> kSplits = {"train", "validation", "test"};
constexpr std::array<std::string_view, 4> kColumns = {"path", "label", "split",
                                                      "text"};
enum Column { kPath, kLabel, kSplit, kText };

// A line of a manifest, for messages.
struct Place {
  const std::string* manifest = nullptr;
  std::int64_t line = 0;

  [[nodiscard]] std::string text() const {
    return *manifest + ": line " + std::to_string(line);
  }
};

[[noreturn]] void Fail(const Place& place, const std::string& reason) {
  throw DataError({.path = *place.manifest},
                  "line " + std::to_string(place.line) + ": " + reason);
}

struct Row {
  Place place;
  std::string written;  // the path as it stands there
  std::size_t split = 0;
  ImageFile image;
};

struct ManifestClass {
  std::int32_t number = 0;
  std::string text;
  Place text_place;
};

char SeparatorOf(const std::string& manifest) {
  std::string extension = fs::path(manifest).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (extension == ".csv") {
    return ',';
  }
  if (extension == ".tsv") {
    return '\t';
  }
  throw UsageError("--manifest " + manifest +
                   ": its name must end in .csv (commas) or .tsv (tabs)");
}

// Where each of kColumns stands in a row.
class Header {
 public:
  Header(const std::vector<std::string>& names, const Place& place)
      : width_(names.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto* const known =
          std::find(kColumns.begin(), kColumns.end(), names[i]);
      if (known == kColumns.end()) {
        Fail(place, "unknown column \"" + names[i] +
                        "\": the first row names the columns path, label and, "
                        "where they are, split and text");
      }
      std::optional<std::size_t>& column =
          places_[static_cast<std::size_t>(known - kColumns.begin())];
      if (column) {
        Fail(place, "column " + names[i] + " is there twice");
      }
      column = i;
    }
    for (const Column column : {kPath, kLabel}) {
      if (!places_[column]) {
        Fail(place, "column " + std::string(kColumns[column]) + " is missing");
      }
    }
  }

  [[nodiscard]] bool Has(Column column) const {
    return places_[column].has_value();
  }
  [[nodiscard]] std::size_t width() const { return width_; }

  // A row's value, "" where the column is not there.
  [[nodiscard]] std::string Get(Column column,
                                const std::vector<std::string>& fields) const {
    return places_[column] ? fields[*places_[column]] : std::string();
  }

 private:
  std::size_t width_;
  std::array<std::optional<std::size_t>, kColumns.size()> places_;
};

std::size_t SplitNumber(const std::string& name, const Place& place) {
  const std::string split = name == "val" ? "validation" : name;
  const auto* const known = std::find(kSplits.begin(), kSplits.end(), split);
  if (known == kSplits.end()) {
    Fail(place, "unknown split \"" + name + "\": train, validation or test");
  }
  return static_cast<std::size_t>(known - kSplits.begin());
}

std::int64_t FileSize(const std::string& path, const Place& place) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) {
    throw IoError(place.text() + ": " + path, "read", error.value());
  }
  return static_cast<std::int64_t>(bytes);
}

// Gathers the rows of all manifests. Classes get numbers as they turn up;
// Finish() sorts them and renumbers the images.
class Manifests {
 public:
  explicit Manifests(std::string base_dir) : base_dir_(std::move(base_dir)) {}

  // Requires: the manifest's name outlives this.
  void Read(const std::string& manifest) {
    const char separator = SeparatorOf(manifest);
    const std::string text = ReadWholeFile(manifest, kMaxBytes);
    try {
      ReadTable(manifest, CsvReader(text, separator));
    } catch (const DataError& error) {
      throw error.At({.path = manifest});
    }
  }

  ImageTree Finish() {
    RefuseTwins();
    ImageTree tree;
    tree.has_split_folders = divided_ != nullptr;
    std::vector<std::int32_t> renumbered(classes_.size());
    for (const auto& [name, entry] : classes_) {
      renumbered[static_cast<std::size_t>(entry.number)] =
          static_cast<std::int32_t>(tree.classes.size());
      tree.classes.push_back({name, entry.text.empty() ? name : entry.text});
    }
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::tie(a.written, a.image.path) <
             std::tie(b.written, b.image.path);
    });
    for (std::size_t split = 0; split < kSplits.size(); ++split) {
      ImageSplit images{kSplits[split], {}};
      for (Row& row : rows_) {
        if (row.split == split) {
          row.image.class_index =
              renumbered[static_cast<std::size_t>(row.image.class_index)];
          images.images.push_back(std::move(row.image));
        }
      }
      if (!images.images.empty()) {
        tree.splits.push_back(std::move(images));
      }
    }
    return tree;
  }

 private:
  void ReadTable(const std::string& manifest, CsvReader reader) {
    std::vector<std::string> fields;
    Place place{&manifest, 1};
    if (!reader.Next(fields)) {
      Fail(place, "the file is empty: the first row names the columns");
    }
    place.line = reader.line();
    const Header header(fields, place);
    (header.Has(kSplit) ? divided_ : undivided_) = &manifest;
    if (divided_ != nullptr && undivided_ != nullptr) {
      throw UsageError("--manifest: " + *divided_ + " has a split column, " +
                       *undivided_ + " has none");
    }
    const std::size_t before = rows_.size();
    while (reader.Next(fields)) {
      place.line = reader.line();
      if (fields.size() != header.width()) {
        Fail(place, "has " + std::to_string(fields.size()) +
                        " values, the first row " +
                        std::to_string(header.width()));
      }
      TakeRow(header, fields, place);
    }
    if (rows_.size() == before) {
      Fail(place, "no image follows the first row");
    }
  }

  void TakeRow(const Header& header, const std::vector<std::string>& fields,
               const Place& place) {
    Row row;
    row.place = place;
    row.written = header.Get(kPath, fields);
    if (row.written.empty()) {
      Fail(place, "the path is empty");
    }
    const fs::path base = base_dir_.empty()
                              ? fs::path(*place.manifest).parent_path()
                              : fs::path(base_dir_);
    row.image.path = (base / row.written).lexically_normal().string();
    row.image.bytes = FileSize(row.image.path, place);
    row.image.class_index = ClassNumber(header.Get(kLabel, fields),
                                        header.Get(kText, fields), place);
    if (header.Has(kSplit)) {
      row.split = SplitNumber(header.Get(kSplit, fields), place);
    }
    rows_.push_back(std::move(row));
  }

  std::int32_t ClassNumber(const std::string& name, const std::string& text,
                           const Place& place) {
    if (name.empty() || name.find('\n') != std::string::npos) {
      Fail(place, name.empty() ? "the label is empty"
                               : "the label has more than one line");
    }
    const auto next = static_cast<std::int32_t>(classes_.size());
    ManifestClass& entry =
        classes_.emplace(name, ManifestClass{next, {}, {}}).first->second;
    if (entry.text.empty()) {
      entry.text = text;
      entry.text_place = place;
    } else if (!text.empty() && text != entry.text) {
      Fail(place, "the text of class " + name + " is \"" + text +
                      "\" here and \"" + entry.text + "\" in " +
                      entry.text_place.text());
    }
    return entry.number;
  }

  void RefuseTwins() {
    const auto path = [](const Row& row) -> const std::string& {
      return row.image.path;
    };
    std::stable_sort(
        rows_.begin(), rows_.end(),
        [&](const Row& a, const Row& b) { return path(a) < path(b); });
    const auto twin = std::adjacent_find(
        rows_.begin(), rows_.end(),
        [&](const Row& a, const Row& b) { return path(a) == path(b); });
    if (twin != rows_.end()) {
      Fail(std::next(twin)->place,
           path(*twin) + " is in " + twin->place.text() + " already");
    }
  }

  std::string base_dir_;
  std::vector<Row> rows_;
  std::map<std::string, ManifestClass> classes_;
  const std::string* divided_ = nullptr;    // one with a split column
  const std::string* undivided_ = nullptr;  // one without
};

}  // namespace

ImageTree ReadManifests(const std::vector<std::string>& manifests,
                        const std::string& base_dir) {
  Manifests reader(base_dir);
  for (const std::string& manifest : manifests) {
    reader.Read(manifest);
  }
  return reader.Finish();
}

}  // namespace infeed
