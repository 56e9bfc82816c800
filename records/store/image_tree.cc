#include "records/store/image_tree.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "records/files/class_list.h"
#include "records/files/folder_listing.h"
#include "records/files/kept_listings.h"
#include "records/files/open_source.h"
#include "records/files/shards.h"
#include "records/files/text_lines.h"
#include "records/files/unreadable_format.h"

namespace infeed {
namespace {

// Has the class of the i-th validation image on line i.
constexpr const char* kLabelFile = "synset_labels.txt";

constexpr std::int64_t kMaxLabelsBytes = std::int64_t{1} << 30;
constexpr std::array<const char*, 2> kTextFiles = {"class_names.txt",
                                                   "LOC_synset_mapping.txt"};

ImageFile ImageIn(const std::string& folder, const FolderEntry& file,
                  std::int32_t class_index) {
  return {.path = folder + "/" + file.name,
          .class_index = class_index,
          .bytes = file.bytes,
          .object = file.object};
}

bool IsSplitName(std::string_view folder) {
  return !SplitOfFolder(folder).empty();
}

// One pass over a raw folder. Classes are numbered as they occur; Finish()
// sorts them and renumbers the images.
class Scan {
 public:
  Scan(std::string raw, KeepListings keep) : raw_(std::move(raw)) {
    if (keep == KeepListings::kYes && !IsUrl(raw_)) {
      kept_.emplace(raw_);
    }
    root_ = List(raw_);
  }

  ImageTree Run() {
    ReadSplitFolders();
    if (tree_.splits.empty()) {
      ReadClassFolders("train", raw_, root_);
      RefuseUnsortedSplits();
    }
    if (tree_.splits.empty()) {
      throw UsageError(NothingFound());
    }
    if (kept_) {
      kept_->Save();
      if (kept_->changed_folders() > 0) {
        tree_.notes.push_back(raw_ +
                              ": folders that changed since the last start "
                              "and were listed again: " +
                              std::to_string(kept_->changed_folders()));
      }
    }
    return Finish();
  }

 private:
  FolderListing List(const std::string& folder) {
    return kept_ ? kept_->List(folder) : ListFolder(folder);
  }

  // Reads RAW/train and others, if at least one of them has class folders or a
  // label file: an ordinary class may be named "train" too.
  void ReadSplitFolders() {
    if (root_.HasFolder("validation") && root_.HasFolder("val")) {
      throw UsageError(raw_ + ": has both validation/ and val/: remove one");
    }
    std::vector<std::pair<SplitFolder, FolderListing>> found;
    for (const SplitFolder& split : kSplitFolders) {
      if (root_.HasFolder(split.folder)) {
        found.emplace_back(split, List(PathOf(split.folder)));
        tree_.has_split_folders |=
            !found.back().second.folders.empty() ||
            (split.split == "validation" && HasLabelFile());
      }
    }
    if (!tree_.has_split_folders) {
      return;
    }
    for (const auto& [split, listing] : found) {
      ReadSplit(split, listing);
    }
    NoteOtherFolders();
  }

  void ReadSplit(const SplitFolder& split, const FolderListing& listing) {
    const std::string folder = PathOf(split.folder);
    if (!listing.folders.empty()) {
      ReadClassFolders(split.split, folder, listing);
    } else if (split.split == "validation") {
      ReadLabelledImages(folder, listing);
    } else if (!listing.images.empty()) {
      tree_.notes.push_back(folder +
                            ": skipped, its images are in no class "
                            "folders");
    }
  }

  void ReadClassFolders(std::string_view split, const std::string& folder,
                        const FolderListing& listing) {
    // RAW itself holds label files and the like.
    const std::size_t loose =
        listing.images.size() + (folder == raw_ ? 0 : listing.ignored.size());
    if (loose > 0) {
      tree_.notes.push_back(folder + ": skipped " + std::to_string(loose) +
                            " files that are in no class folder");
    }
    std::vector<std::string> class_folders;
    for (const std::string& name : listing.folders) {
      class_folders.push_back(folder + "/" + name);
    }
    const std::vector<FolderListing> listings =
        kept_ ? kept_->ListFolders(class_folders) : ListFolders(class_folders);
    ImageSplit images{std::string(split), {}};
    for (std::size_t i = 0; i < listings.size(); ++i) {
      ReadClassFolder(listing.folders[i], class_folders[i], listings[i],
                      images);
    }
    AddSplit(std::move(images));
  }

  void ReadClassFolder(const std::string& name, const std::string& folder,
                       const FolderListing& listing, ImageSplit& split) {
    LeaveOut(folder, listing);
    if (listing.images.empty()) {
      tree_.notes.push_back(folder + ": skipped, no images in it");
      return;
    }
    const std::int32_t number = NumberOf(name);
    for (const FolderEntry& file : listing.images) {
      split.images.push_back(ImageIn(folder, file, number));
    }
  }

  // ImageNet's own validation set: line i of the label file is the class of
  // the i-th image in the order of names.
  void ReadLabelledImages(const std::string& folder,
                          const FolderListing& listing) {
    if (listing.images.empty()) {
      return;
    }
    const std::string path = raw_ + "/" + kLabelFile;
    if (!HasLabelFile()) {
      throw UsageError(folder +
                       ": its images are in no class folders, and "
                       "there is no " +
                       path + " with a class on each line");
    }
    const std::vector<std::string> labels = ReadLines(path);
    if (labels.size() != listing.images.size()) {
      throw DataError({.path = path},
                      "has " + std::to_string(labels.size()) + " lines, but " +
                          folder + " has " +
                          std::to_string(listing.images.size()) + " images");
    }
    LeaveOut(folder, listing);
    ImageSplit split{"validation", {}};
    for (std::size_t i = 0; i < labels.size(); ++i) {
      split.images.push_back(
          ImageIn(folder, listing.images[i], NumberOf(labels[i])));
    }
    AddSplit(std::move(split));
  }

  // Rejects RAW/train/*.jpg beside RAW/test/*.jpg: these are not two classes.
  void RefuseUnsortedSplits() const {
    const bool only_splits =
        std::all_of(numbers_.begin(), numbers_.end(),
                    [](const auto& entry) { return IsSplitName(entry.first); });
    if (!numbers_.empty() && only_splits) {
      throw UsageError(PathOf(numbers_.begin()->first) +
                       ": has images but no class folders: sort them into " +
                       PathOf(numbers_.begin()->first) + "/<class>/");
    }
  }

  void AddSplit(ImageSplit split) {
    if (split.images.empty()) {
      return;
    }
    std::sort(split.images.begin(), split.images.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    tree_.splits.push_back(std::move(split));
  }

  [[nodiscard]] bool HasLabelFile() const {
    return std::binary_search(root_.ignored.begin(), root_.ignored.end(),
                              kLabelFile);
  }

  [[nodiscard]] std::string PathOf(std::string_view name) const {
    return raw_ + "/" + std::string(name);
  }

  std::int32_t NumberOf(const std::string& class_name) {
    const auto next = static_cast<std::int32_t>(numbers_.size());
    return numbers_.emplace(class_name, next).first->second;
  }

  // Counts the ignored files of a folder of images.
  void LeaveOut(const std::string& folder, const FolderListing& listing) {
    using Kind = LeftOut::Kind;
    for (const std::string& name : listing.ignored) {
      const std::string_view format =
          name.starts_with('.') ? "" : FindUnreadableFormatByName(name);
      AddLeftOut(tree_.left_out, {.kind = format.empty() ? Kind::kOtherFiles
                                                         : Kind::kUnreadable,
                                  .format = std::string(format),
                                  .count = 1,
                                  .example = folder + "/" + name});
    }
    for (const std::string& name : listing.folders) {
      AddLeftOut(tree_.left_out, {.kind = Kind::kFolders,
                                  .format = "",
                                  .count = 1,
                                  .example = folder + "/" + name});
    }
  }

  void NoteOtherFolders() {
    for (const std::string& folder : root_.folders) {
      if (!IsSplitName(folder)) {
        tree_.notes.push_back(PathOf(folder) +
                              ": skipped, neither train, validation nor "
                              "test");
      }
    }
  }

  [[nodiscard]] std::string NothingFound() const {
    std::string text = raw_ + ": no images found; expected one of " + raw_ +
                       "/<class>/*.jpg, " + raw_ +
                       "/{train,validation,test}/<class>/*.jpg, or ImageNet's "
                       "validation/*.JPEG with synset_labels.txt";
    if (!root_.images.empty()) {
      text +=
          " (there are images directly in it: sort them into class folders)";
    } else if (root_.folders.size() == 1) {
      text += " (perhaps you mean " + PathOf(root_.folders.front()) + ")";
    }
    for (const LeftOut& left_out : tree_.left_out) {
      if (left_out.kind == LeftOut::Kind::kUnreadable) {
        text +=
            "; " + left_out.example + ": " + UnreadableReason(left_out.format);
      }
    }
    return text;
  }

  // The map is sorted by name, which is the final order of the classes.
  ImageTree Finish() {
    const std::map<std::string, std::string> texts = ReadClassTexts(raw_);
    std::vector<std::int32_t> renumbered(numbers_.size());
    for (const auto& [name, number] : numbers_) {
      renumbered[static_cast<std::size_t>(number)] =
          static_cast<std::int32_t>(tree_.classes.size());
      const auto text = texts.find(name);
      tree_.classes.push_back(
          {name, text == texts.end() ? name : text->second});
    }
    for (ImageSplit& split : tree_.splits) {
      for (ImageFile& image : split.images) {
        image.class_index =
            renumbered[static_cast<std::size_t>(image.class_index)];
      }
    }
    return std::move(tree_);
  }

  std::string raw_;
  std::optional<KeptListings> kept_;
  FolderListing root_;
  std::map<std::string, std::int32_t> numbers_;
  ImageTree tree_;
};

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

}  // namespace

std::map<std::string, std::string> ReadClassTexts(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const char* name : kTextFiles) {
    const std::optional<std::string> text =
        ReadWholeIfThere(folder + "/" + name, kMaxLabelsBytes);
    if (!text) {
      continue;
    }
    std::size_t number = 0;
    for (const std::string_view line : Lines(*text)) {
      const std::size_t blank = line.find_first_of(kBlanks);
      const std::string_view class_text =
          blank == line.npos ? "" : Trim(line.substr(blank));
      CheckClassLine(folder + "/" + name, ++number, class_text);
      if (blank != line.npos) {
        texts.emplace(line.substr(0, blank), class_text);
      }
    }
    break;
  }
  return texts;
}

ImageTree FindImages(const std::string& raw_data_dir, KeepListings keep) {
  return Scan(WithoutSlashes(raw_data_dir), keep).Run();
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
