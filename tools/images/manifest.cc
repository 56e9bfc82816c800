#include "tools/images/manifest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/own_files.h"
#include "records/bytes/plain_text.h"
#include "records/bytes/whole_number.h"
#include "records/cloud/cloud_runtime.h"
#include "records/cloud/object_store.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "records/files/text_lines.h"
#include "records/http/url.h"
#include "tools/images/annotations.h"
#include "tools/images/csv.h"
#include "tools/images/source.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxManifestBytes = std::int64_t{1} << 30;

// A line of a manifest, for messages.
struct ManifestPlace {
  const std::string* manifest = nullptr;
  std::int64_t line = 0;  // from 1

  // "FILE: line 7"
  [[nodiscard]] std::string text() const {
    return PathForMessages(*manifest) + ": line " + std::to_string(line);
  }
};

// Throws the DataError of a line.
[[noreturn]] void FailAt(const ManifestPlace& place,
                         const std::string& reason) {
  throw DataError({.path = PathForMessages(*place.manifest)},
                  "line " + std::to_string(place.line) + ": " + reason);
}

constexpr std::array<std::string_view, 4> kColumns = {"path", "label", "split",
                                                      "text"};

// The position of each column in a manifest's rows.
using ManifestHeader = std::map<std::string, std::size_t, std::less<>>;

// Throws DataError for a first row with an unknown or repeated column, or
// without path or label.
ManifestHeader ReadHeader(const std::vector<std::string>& names,
                          const ManifestPlace& place) {
  ManifestHeader header;
  for (const std::string& name : names) {
    if (std::ranges::find(kColumns, name) == kColumns.end()) {
      FailAt(place, "unknown column \"" + name +
                        "\": the first row must name the columns path and "
                        "label, and may name split and text");
    }
    if (!header.emplace(name, header.size()).second) {
      FailAt(place, "column " + name + " is there twice");
    }
  }
  for (const std::string column : {"path", "label"}) {
    if (!header.contains(column)) {
      FailAt(place, "column " + column + " is missing");
    }
  }
  return header;
}

// A row's value in a column; "" if the manifest lacks the column.
std::string Get(const ManifestHeader& header, std::string_view column,
                const std::vector<std::string>& fields) {
  const auto found = header.find(column);
  return found == header.end() ? std::string() : fields[found->second];
}

// The folder of a manifest, or the URL of its "folder".
std::string FolderOfManifest(const std::string& manifest) {
  if (!IsUrl(manifest)) {
    return fs::path(manifest).parent_path().string();
  }
  Url url = ParseUrl(manifest);
  url.query.clear();
  url.path = fs::path(url.path).parent_path().string();
  return FormatUrl(url);
}

std::string UrlFrom(const std::string& folder, const std::string& written) {
  Url url = ParseUrl(folder);
  const bool in_bucket = IsBucketScheme(url.scheme);
  const std::string relative =
      in_bucket ? written : PercentEncode(written, Slashes::kKeep);
  const fs::path start =
      in_bucket ? fs::path(url.path) : "/" / fs::path(url.path);
  url.path = (start / relative).lexically_normal().string();
  return FormatUrl(url);
}

// The path or URL of an image that the manifest lists as `written`: relative to
// the folder, unless `written` is a URL or an absolute path. Resolves "." and
// "..". Throws UsageError for an invalid URL.
std::string ImagePathFrom(const std::string& folder,
                          const std::string& written) {
  if (IsUrl(written)) {
    return FormatUrl(ParseUrl(written));
  }
  if (IsUrl(folder) && !fs::path(written).is_absolute()) {
    return UrlFrom(folder, written);
  }
  return (fs::path(folder) / written).lexically_normal().string();
}

struct Row {
  ManifestPlace place;
  std::string written;  // the path as in the manifest
  std::size_t split = 0;
  ImageFile image;
};

struct ManifestClass {
  std::int32_t number = 0;
  std::string text;
  ManifestPlace text_place;
};

char SeparatorOf(const std::string& manifest) {
  const std::string extension =
      LowerCase(fs::path(manifest).extension().string());
  if (extension == ".csv") {
    return ',';
  }
  if (extension == ".tsv") {
    return '\t';
  }
  throw UsageError("--manifest " + manifest +
                   ": its name must end in .csv (commas) or .tsv (tabs)");
}

std::size_t SplitNumber(const std::string& name, const ManifestPlace& place) {
  const auto* const known =
      std::find(kSplits.begin(), kSplits.end(), SplitNamed(name));
  if (known == kSplits.end()) {
    FailAt(place, "unknown split \"" + name + "\": train, validation or test");
  }
  return static_cast<std::size_t>(known - kSplits.begin());
}

std::int64_t FileSize(const std::string& path, const ManifestPlace& place) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) {
    throw IoError(place.text() + ": " + path, "read", error.value());
  }
  return static_cast<std::int64_t>(bytes);
}

// The order of classes: of numbers as numbers, so that 10 follows 9, else
// bytewise. Numbers come before other names.
struct ClassOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto key = [](const std::string& name) {
      const auto number = ParsePlainNumber<std::int64_t>(name);
      return std::pair(
          number ? *number : std::numeric_limits<std::int64_t>::max(),
          std::string_view(name));
    };
    return key(a) < key(b);
  }
};

// Whether a label is a number as a regression has, or none: 0.5, nan.
bool IsMeasure(const std::string& label) {
  const std::optional<double> number = ReadNumber(label);
  return number && (!std::isfinite(*number) || label.find('.') != label.npos);
}

// Collects the rows of all manifests. Classes are numbered as they occur;
// Finish() sorts them and renumbers the images.
class Manifests {
 public:
  explicit Manifests(std::string base_dir) : base_dir_(std::move(base_dir)) {}

  // Requires: the manifest's name outlives this.
  void Read(const std::string& manifest) {
    const char separator = SeparatorOf(manifest);
    const std::string text =
        ReadWhole(manifest, kMaxManifestBytes, kNamedByUser);
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
      throw DataError({.path = PathForMessages(manifest)},
                      "the table is UTF-16: save it as UTF-8");
    }
    InFile(PathForMessages(manifest),
           [&] { ReadTable(manifest, CsvReader(text, separator)); });
  }

  ImageTree Finish() {
    RefuseTwins();
    FindRemote();
    ImageTree tree;
    tree.has_split_folders = divided_ != nullptr;
    std::vector<std::int32_t> renumbered(classes_.size());
    for (const auto& [name, entry] : classes_) {
      renumbered[static_cast<std::size_t>(entry.number)] =
          static_cast<std::int32_t>(tree.classes.size());
      tree.classes.push_back({name, entry.text.empty() ? name : entry.text});
    }
    std::ranges::sort(rows_, {}, [](const Row& row) {
      return std::tie(row.written, row.image.path);
    });
    for (std::size_t split = 0; split < kSplits.size(); ++split) {
      ImageSplit images{std::string(kSplits[split]), {}};
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
    ManifestPlace place{&manifest, 1};
    if (!reader.Next(fields)) {
      FailAt(place, "the file is empty: the first row names the columns");
    }
    place.line = reader.line();
    const ManifestHeader header = ReadHeader(fields, place);
    (header.contains("split") ? divided_ : undivided_) = &manifest;
    if (divided_ != nullptr && undivided_ != nullptr) {
      throw UsageError("--manifest: " + PathForMessages(*divided_) +
                       " has a split column, " + PathForMessages(*undivided_) +
                       " has none");
    }
    const std::size_t before = rows_.size();
    while (reader.Next(fields)) {
      place.line = reader.line();
      if (fields.size() != header.size()) {
        FailAt(place, fmt::format("has {} values, the first row {}",
                                  fields.size(), header.size()));
      }
      TakeRow(header, fields, place);
    }
    if (rows_.size() == before) {
      FailAt(place, "no image follows the first row");
    }
  }

  void TakeRow(const ManifestHeader& header,
               const std::vector<std::string>& fields,
               const ManifestPlace& place) {
    Row row;
    row.place = place;
    row.written = Get(header, "path", fields);
    if (row.written.empty()) {
      FailAt(place, "the path is empty");
    }
    const std::string folder =
        base_dir_.empty() ? FolderOfManifest(*place.manifest) : base_dir_;
    row.image.path = ImagePathFrom(folder, row.written);
    if (!IsUrl(row.image.path) && !fs::exists(row.image.path)) {
      // Windows' separators.
      std::ranges::replace(row.written, '\\', '/');
      row.image.path = ImagePathFrom(folder, row.written);
    }
    if (!IsUrl(row.image.path)) {
      row.image.bytes = FileSize(row.image.path, place);
    }
    row.image.class_index =
        ClassNumber(NameText(Trim(Get(header, "label", fields))),
                    NameText(Trim(Get(header, "text", fields))), place);
    if (header.contains("split")) {
      row.split =
          SplitNumber(std::string(Trim(Get(header, "split", fields))), place);
    }
    rows_.push_back(std::move(row));
  }

  std::int32_t ClassNumber(const std::string& name, const std::string& text,
                           const ManifestPlace& place) {
    if (name.empty()) {
      FailAt(place, "the label is empty");
    }
    if (IsMeasure(name)) {
      FailAt(place, "the label " + name +
                        " is not the name of a class: if labels are classes, "
                        "write whole numbers or words; numbers to be predicted "
                        "are fields of records (infeed.Writer, then "
                        "fields={...}; docs/python.md)");
    }
    for (const std::string& one : {name, text}) {
      CheckClassLine(*place.manifest, place.line, one);
    }
    const auto next = static_cast<std::int32_t>(classes_.size());
    ManifestClass& entry =
        classes_.emplace(name, ManifestClass{next, {}, {}}).first->second;
    if (entry.text.empty()) {
      entry.text = text;
      entry.text_place = place;
    } else if (!text.empty() && text != entry.text) {
      FailAt(place, "the text of class " + name + " is \"" + text +
                        "\" here and \"" + entry.text + "\" in " +
                        entry.text_place.text());
    }
    return entry.number;
  }

  // Looks up, in parallel, the objects of images whose paths are URLs.
  void FindRemote() {
    std::vector<Row*> remote;
    for (Row& row : rows_) {
      if (IsUrl(row.image.path)) {
        remote.push_back(&row);
      }
    }
    if (remote.empty()) {
      return;
    }
    SharedCloudRuntime()->pool->ForEach(remote.size(), [&](std::size_t i) {
      ImageFile& image = remote[i]->image;
      if (std::optional<ObjectInfo> info =
              SharedObjectStore()->Find(image.path)) {
        image.bytes = info->size;
        image.object = std::make_shared<const ObjectInfo>(*std::move(info));
      }
    });
    for (const Row* const row : remote) {
      if (row->image.object == nullptr) {
        throw IoError(row->place.text() + ": " +
                      ImagePathForMessages(row->image) +
                      ": cannot read: there is no such object");
      }
    }
  }

  void RefuseTwins() {
    const auto path = [](const Row& row) -> const std::string& {
      return row.image.path;
    };
    std::ranges::stable_sort(rows_, {}, path);
    const auto twin = std::ranges::adjacent_find(rows_, {}, path);
    if (twin != rows_.end()) {
      FailAt(std::next(twin)->place, ImagePathForMessages(twin->image) +
                                         " is in " + twin->place.text() +
                                         " already");
    }
  }

  std::string base_dir_;
  std::vector<Row> rows_;
  std::map<std::string, ManifestClass, ClassOrder> classes_;
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
