#include "tools/images/yolo_splits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "records/files/text_lines.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxSplitListBytes = std::int64_t{1} << 30;

// Without "." and "..", where possible.
std::string NormalPath(std::string_view path) {
  std::string normal =
      std::filesystem::path(path).lexically_normal().generic_string();
  normal.resize(normal.find_last_not_of('/') + 1);
  return normal == "." ? "" : normal;
}

// The path with a slash at its end, if it has a folder; else "".
std::string FolderOf(std::string_view path) {
  return std::string(path.substr(0, path.size() - BaseName(path).size()));
}

// What a path means below RAW: it is relative to a base or to RAW. Its first
// folders may be those of another machine, but not its last bytes, `least`.
template <typename IsThere>
std::optional<std::string> FindPlace(const std::string& base,
                                     std::string_view path, std::size_t least,
                                     const IsThere& is_there) {
  for (;;) {
    for (const std::string& in : {base, std::string()}) {
      std::string place = NormalPath(in + std::string(path));
      if (is_there(place)) {
        return place;
      }
    }
    const std::size_t slash = path.find('/');
    if (slash == path.npos || path.size() - slash - 1 < least) {
      return std::nullopt;
    }
    path.remove_prefix(slash + 1);
  }
}

// Also on Windows: C:/
bool IsAbsolute(std::string_view path) {
  return path.starts_with('/') || path.substr(0, 2).ends_with(':');
}

// The part of an entry that names a place below the data set's folder.
std::string_view OwnPart(std::string_view path) {
  if (IsAbsolute(path)) {
    return path.substr(path.find_last_of("/\\") + 1);
  }
  while (path.starts_with("../") || path.starts_with("./")) {
    path = BelowFirstFolder(path);
  }
  return path;
}

class Divider {
 public:
  explicit Divider(const AnnotatedFolder& in)
      : in_(in), splits_(in.images().size()) {}

  // Takes the images that an entry of a file names.
  void Add(const DataYaml& data, const DataYaml::Entry& entry) {
    origin_ = PathForMessages(in_.PathOf(data.file)) + ": " + entry.key;
    split_ = entry.split;
    base_ = FolderOf(data.file);
    const bool is_list = entry.path.ends_with(".txt");
    std::string path = data.root.empty() || IsAbsolute(entry.path)
                           ? entry.path
                           : data.root + "/" + entry.path;
    std::ranges::replace(path, '\\', '/');
    const std::size_t least =
        std::max<std::size_t>(OwnPart(entry.path).size(), 1);
    const auto place =
        FindPlace(base_, path, least, [&](const std::string& name) {
          return is_list ? in_.files().contains(name) : HasImages(name);
        });
    if (!place) {
      notes_.push_back("--yolo: " + origin_ + ": there are no images of " +
                       NameText(entry.path) + " here");
    } else if (is_list) {
      TakeList(*place);
    } else {
      TakeFolder(*place);
    }
  }

  [[nodiscard]] bool HasTaken() const { return !taken_.empty(); }

  YoloSplits Finish() && {
    YoloSplits found;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      const FolderEntry& image = in_.images()[i];
      const std::string_view named = SplitInPath(image.name);
      if (splits_[i].empty() && IsLeftOut(image.name, named)) {
        ++left_out;
        continue;
      }
      const std::string_view other = named.empty() ? "train" : named;
      found.images.push_back({&image, splits_[i].empty() ? other : splits_[i]});
    }
    if (std::ranges::all_of(found.images, [](const YoloImage& image) {
          return image.split == "train";
        })) {
      for (YoloImage& image : found.images) {  // --split may divide them.
        image.split = "";
      }
    }
    if (left_out > 0) {
      notes_.push_back("--yolo: " + CountText(left_out, "image") +
                       " left out, as no split names them");
    }
    found.notes = std::move(notes_);
    return found;
  }

  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  // Whether entries decide on an image, which none of them names. named: by its
  // folders.
  [[nodiscard]] bool IsLeftOut(std::string_view image,
                               std::string_view named) const {
    return std::ranges::any_of(taken_, [&](const auto& taken) {
      return image.starts_with(taken.first) &&
             (named.empty() || taken.second.contains(named));
    });
  }
  static std::string Start(const std::string& folder) {
    return folder.empty() ? "" : folder + "/";
  }
  [[nodiscard]] auto FirstIn(const std::string& folder) const {
    return std::ranges::lower_bound(in_.images(), Start(folder), {},
                                    &FolderEntry::name);
  }
  [[nodiscard]] bool HasImages(const std::string& folder) const {
    const auto first = FirstIn(folder);
    return first != in_.images().end() &&
           first->name.starts_with(Start(folder));
  }

  void Take(const FolderEntry& image) {
    std::string_view& split =
        splits_[static_cast<std::size_t>(&image - in_.images().data())];
    if (!split.empty() && split != split_) {
      throw UsageError(origin_ + " names " + NameText(image.name) + ", which " +
                       std::string(split) +
                       " has already: name each image in one split; if only "
                       "train is there, --split can divide it");
    }
    split = split_;
    taken_[base_].insert(split_);
  }

  void TakeFolder(const std::string& folder) {
    for (auto image = FirstIn(folder);
         image != in_.images().end() && image->name.starts_with(Start(folder));
         ++image) {
      Take(*image);
    }
  }

  void TakeList(const std::string& list) {
    std::size_t number = 0;
    for (std::string& line : Lines(in_.Read(list, kMaxSplitListBytes))) {
      ++number;
      if (line.empty()) {
        continue;
      }
      std::ranges::replace(line, '\\', '/');
      const auto place = FindPlace(
          FolderOf(list), line, BaseName(line).size(),
          [&](const auto& name) { return in_.FindImage(name) != nullptr; });
      if (!place) {
        throw DataError({.path = PathForMessages(in_.PathOf(list))},
                        "line " + std::to_string(number) +
                            ": there is no image " + NameText(line) +
                            ": remove the line, or give the folder with it");
      }
      Take(*in_.FindImage(*place));
    }
  }

  const AnnotatedFolder& in_;
  std::vector<std::string_view> splits_;  // of each image; empty: none
  // The splits that have images, by the folder of the file with the entries.
  std::map<std::string, std::set<std::string_view>> taken_;
  std::vector<std::string> notes_;
  std::string_view split_;  // of the current entry
  std::string base_;        // the folder of its file
  std::string origin_;      // names that entry
};

// Darknet's train.txt and others in RAW. One beside an image of its name has
// the image's labels.
std::vector<DataYaml::Entry> ListsIn(const AnnotatedFolder& in) {
  std::vector<DataYaml::Entry> lists;
  for (const std::string& file : in.files()) {
    const std::string_view stem = WithoutExtension(file);
    const std::string_view split =
        file == std::string(stem) + ".txt" ? SplitNamed(stem) : "";
    if (!split.empty() && in.FindImageOf(stem) == nullptr) {
      lists.push_back({.key = file, .split = split, .path = file});
    }
  }
  const bool has_train =
      std::ranges::find(lists, "train", &DataYaml::Entry::split) != lists.end();
  return has_train ? lists : std::vector<DataYaml::Entry>();
}

}  // namespace

YoloSplits FindYoloSplits(const AnnotatedFolder& in, const std::string& folder,
                          const std::vector<DataYaml>& yamls) {
  Divider divider(in);
  for (const DataYaml& data : yamls) {
    for (const DataYaml::Entry& entry : data.entries) {
      divider.Add(data, entry);
    }
  }
  const bool is_named =
      std::ranges::any_of(in.images(), [](const FolderEntry& image) {
        return !SplitInPath(image.name).empty();
      });
  if (!divider.HasTaken() && !is_named) {
    for (const DataYaml::Entry& list : ListsIn(in)) {
      divider.Add({}, list);
    }
  }
  if (divider.HasTaken()) {
    return std::move(divider).Finish();
  }
  std::vector<std::string_view> paths;
  for (const FolderEntry& image : in.images()) {
    paths.emplace_back(image.name);
  }
  const std::vector<std::string_view> splits = SplitsInPaths(folder, paths);
  YoloSplits found = {.notes = divider.notes()};
  for (std::size_t i = 0; i < splits.size(); ++i) {
    found.images.push_back({&in.images()[i], splits[i]});
  }
  return found;
}

}  // namespace infeed
