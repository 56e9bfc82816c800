#include "records/store/image_tree.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "records/bytes/plain_text.h"
#include "records/files/class_list.h"
#include "records/files/folder_listing.h"
#include "records/files/image_layout.h"
#include "records/files/layout_faults.h"
#include "records/files/open_source.h"
#include "records/files/record_files.h"
#include "records/files/split_names.h"
#include "records/files/unreadable_format.h"

namespace infeed {
namespace {

constexpr std::int64_t kMaxLabelsBytes = std::int64_t{1} << 30;

// Makes the tree of a raw folder.
class TreeMaker {
 public:
  TreeMaker(std::string raw, UnreadableFiles unreadable)
      : raw_(std::move(raw)), walk_(WalkFolder(raw_, unreadable)) {}

  // nullopt: there are no images.
  std::optional<ImageTree> Make() {
    if (walk_.images.empty()) {
      LeaveOut();
      return std::nullopt;
    }
    ImageLayout layout = LayOut();
    LeaveOut();
    if (layout.classes.empty()) {
      throw UsageError(NothingFound());
    }
    AddImages(layout);
    AddClasses(layout);
    std::ranges::move(layout.notes, std::back_inserter(tree_.notes));
    for (const std::string& folder : walk_.empty) {
      tree_.notes.push_back(PathOf(folder) + ": skipped, no images in it");
    }
    for (const std::string& link : walk_.ended) {
      tree_.notes.push_back(PathOf(link) +
                            ": not followed, this folder was walked already");
    }
    tree_.has_split_folders = layout.has_splits;
    return std::move(tree_);
  }

  [[nodiscard]] std::string NothingFound() const {
    std::string text = raw_ + ": no images found; expected one of " + raw_ +
                       "/<class>/*.jpg, " + raw_ +
                       "/{train,validation,test}/<class>/*.jpg, or ImageNet's "
                       "validation/*.JPEG with synset_labels.txt";
    if (!walk_.images.empty()) {
      text +=
          " (there are images directly in it: sort them into class folders)";
    }
    for (const LeftOut& left_out : tree_.left_out) {
      if (left_out.kind == LeftOut::Kind::kUnreadable) {
        text +=
            "; " + left_out.example + ": " + UnreadableReason(left_out.format);
      }
    }
    const std::vector<std::string_view> others(walk_.ignored.begin(),
                                               walk_.ignored.end());
    return text + OtherLayoutHint(PathOf(""), others) +
           (walk_.images.empty() ? ParquetHintOfFolder(raw_) : "");
  }

 private:
  [[nodiscard]] ImageLayout LayOut() {
    TreeFiles files = {.root = PathOf(""),
                       .read = [this](std::string_view path) {
                         label_files_.insert(path);
                         return ReadWhole(PathOf(path), kMaxLabelsBytes);
                       }};
    files.images.reserve(walk_.images.size());
    for (const FolderEntry& image : walk_.images) {
      files.images.push_back(image.name);
    }
    files.others.assign(walk_.ignored.begin(), walk_.ignored.end());
    return LayOutImages(files);
  }

  // Takes the images out of walk_.
  void AddImages(const ImageLayout& layout) {
    const std::string root = PathOf("");
    for (auto image = layout.images.begin(); image != layout.images.end();) {
      const auto end = std::ranges::upper_bound(
          image, layout.images.end(), image->split, {}, &LaidOutImage::split);
      ImageSplit& split = tree_.splits.emplace_back();
      split.name = kSplits[static_cast<std::size_t>(image->split)];
      split.images.reserve(static_cast<std::size_t>(end - image));
      for (; image != end; ++image) {
        FolderEntry& file = walk_.images[image->file];
        split.images.push_back({.path = std::move(file.name.insert(0, root)),
                                .class_index = image->class_index,
                                .bytes = file.bytes,
                                .object = std::move(file.object)});
      }
    }
  }

  void AddClasses(const ImageLayout& layout) {
    const ClassTexts texts =
        ReadClassTexts(raw_, layout.folder, layout.classes, tree_.notes);
    for (const std::string& name : layout.classes) {
      const auto text = texts.find(name);
      tree_.classes.push_back(
          {name, text == texts.end() ? name : text->second});
    }
  }

  // Counts the ignored files below the folder itself, which holds label files
  // and the like, but not label files that were read.
  void LeaveOut() {
    using Kind = LeftOut::Kind;
    for (const std::string& path : walk_.ignored) {
      if (path.find('/') == std::string::npos || label_files_.contains(path)) {
        continue;
      }
      const std::string_view name = BaseName(path);
      const std::string_view format =
          name.starts_with('.') ? "" : FindUnreadableFormatByName(name);
      AddLeftOut(tree_.left_out, {.kind = format.empty() ? Kind::kOtherFiles
                                                         : Kind::kUnreadable,
                                  .format = std::string(format),
                                  .count = 1,
                                  .example = PathOf(path)});
    }
  }

  [[nodiscard]] std::string PathOf(std::string_view path) const {
    return raw_ + (raw_.ends_with('/') ? "" : "/") + std::string(path);
  }

  std::string raw_;
  FolderWalk walk_;
  std::set<std::string_view> label_files_;  // in walk_; those that were read
  ImageTree tree_;
};

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

}  // namespace

std::optional<ImageTree> FindImageTree(const std::string& raw_data_dir) {
  return TreeMaker(WithoutSlashes(raw_data_dir), UnreadableFiles::kTake).Make();
}

ImageTree FindImages(const std::string& raw_data_dir) {
  TreeMaker maker(WithoutSlashes(raw_data_dir), UnreadableFiles::kThrow);
  std::optional<ImageTree> tree = maker.Make();
  if (!tree) {
    throw UsageError(maker.NothingFound());
  }
  return *std::move(tree);
}

void AddLeftOut(std::vector<LeftOut>& list, const LeftOut& more) {
  const auto key = [](const LeftOut& left_out) {
    return std::tie(left_out.kind, left_out.format);
  };
  const auto place = std::find_if(
      list.begin(), list.end(),
      [&](const LeftOut& known) { return key(known) >= key(more); });
  if (place != list.end() && key(*place) == key(more)) {
    place->count += more.count;
  } else {
    list.insert(place, more);
  }
}

}  // namespace infeed
