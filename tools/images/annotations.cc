#include "tools/images/annotations.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "base/count_text.h"
#include "base/error.h"
#include "base/own_files.h"
#include "records/bytes/plain_text.h"
#include "records/files/class_list.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"
#include "records/files/text_lines.h"
#include "tools/images/source.h"

namespace infeed {
namespace {

// The name of a label without a class, as in torchvision's list of COCO's.
constexpr const char* kNoClass = "N/A";

std::vector<ImageClass> ClassesOf(const LabelNames& names) {
  std::vector<ImageClass> classes;
  for (auto name = names.lower_bound(1); name != names.end(); ++name) {
    const auto& [label, text] = *name;
    if (label > kMostClasses) {
      break;
    }
    classes.resize(static_cast<std::size_t>(label), {kNoClass, kNoClass});
    classes.back() = {text, text};
  }
  return classes;
}

struct NamedSplit {
  std::string_view split = {};  // empty: no folder means one
  std::string_view folder = {};
};

// The split of the first folder of a path whose name means one.
template <typename Meaning>
NamedSplit SplitOfFolder(std::string_view path, const Meaning& meaning) {
  for (; path.find('/') != path.npos; path = BelowFirstFolder(path)) {
    if (const std::string_view split = meaning(FirstFolder(path));
        !split.empty()) {
      return {split, FirstFolder(path)};
    }
  }
  return {};
}

// COCO's train2017, and the like.
std::string_view NumberedSplit(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  std::string_view word = name.substr(0, last + 1);
  if (word.ends_with('_') || word.ends_with('-')) {
    word.remove_suffix(1);
  }
  return SplitNamed(word);
}

// Also of trainee; there are no classes that may be named so.
std::string_view SplitByStart(std::string_view name) {
  const std::string lower = LowerCase(name);
  for (const char* const word : {"train", "val", "test"}) {
    if (lower.starts_with(word)) {
      return SplitNamed(word);
    }
  }
  return LikelySplit(name);
}

// Rejects trainA/ beside valA/, and train/ beside val_images/: the images of
// all would be train.
void RefuseLikelySplits(
    const std::string& folder,
    const std::map<std::string_view, std::string_view>& understood,
    const std::map<std::string_view, std::string_view>& likely) {
  for (const auto& [split, name] : likely) {
    const auto train = likely.find("train");
    if (split.empty() || split == "train" ||
        (understood.empty() && train == likely.end())) {
      continue;
    }
    const std::string_view other =
        understood.empty() ? train->second : understood.begin()->second;
    throw UsageError(PathForMessages(folder) + ": the folders " +
                     std::string(other) + "/ and " + std::string(name) +
                     "/ seem to be splits: name them train, validation or "
                     "test, or for --yolo list them in data.yaml; or, if they "
                     "are not, put all of them into a folder train/");
  }
}

}  // namespace

LabelNames ReadLabelNames(const std::string& class_list) {
  LabelNames names;
  std::int64_t label = 0;
  for (const std::string& line : ReadLines(class_list, kNamedByUser)) {
    const std::string name = NameText(line);
    CheckClassLine(class_list, static_cast<std::size_t>(++label), name);
    names.emplace(label, name);
  }
  if (names.empty()) {
    throw DataError({.path = class_list}, "has no class names");
  }
  return names;
}

std::optional<double> ReadNumber(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && next == end ? std::optional(number)
                                             : std::nullopt;
}

void AnnotatedImages::Add(std::string_view split, ImageFile image,
                          ImageObjects objects) {
  if (!paths_.insert(image.path).second) {
    throw DataError({.path = objects.file},
                    ImagePathForMessages(image) + " is annotated twice");
  }
  Filter(objects.objects);
  if (objects.objects.empty() && options_.drop_empty) {
    ++empty_images_;
    return;
  }
  ++images_;
  objects_ += std::ssize(objects.objects);
  images_with_objects_ += objects.objects.empty() ? 0 : 1;
  is_divided_ |= !split.empty();
  image.objects = std::make_shared<const ImageObjects>(std::move(objects));
  splits_[split.empty() ? "train" : std::string(split)].push_back(
      std::move(image));
}

void AnnotatedImages::Filter(std::vector<AnnotatedObject>& objects) {
  const auto drop = [&](const auto& is_dropped) {
    return static_cast<std::int64_t>(std::erase_if(objects, is_dropped));
  };
  empty_boxes_ += drop([](const AnnotatedObject& object) {
    const auto& [x1, y1, x2, y2] = object.box;
    return x2 <= x1 || y2 <= y1;
  });
  if (options_.drop_crowds) {
    crowds_ += drop([](const AnnotatedObject& one) { return one.is_crowd; });
  }
  if (options_.drop_difficult) {
    difficult_ +=
        drop([](const AnnotatedObject& one) { return one.is_difficult; });
  }
}

std::string AnnotatedImages::CountsText() const {
  std::string text = CountText(objects_, "object") + " in " +
                     std::to_string(images_with_objects_) + " of " +
                     CountText(images_, "image");
  std::string left_out;
  const auto add = [&](std::int64_t count, std::string_view one,
                       std::string_view many) {
    if (count > 0) {
      left_out.append(left_out.empty() ? "; left out: " : ", ")
          .append(CountText(count, one, many));
    }
  };
  add(empty_boxes_, "empty box", "empty boxes");
  add(crowds_, "crowd", "crowds");
  add(difficult_, "difficult object", "difficult objects");
  add(empty_images_, "image without objects", "images without objects");
  return text + left_out;
}

ImageTree AnnotatedImages::Finish(const LabelNames& names,
                                  const std::string& data) {
  if (images_ == 0) {
    throw UsageError(data + ": no images with annotations" +
                     (empty_images_ > 0 ? " are left (--drop_empty)" : ""));
  }
  ImageTree tree;
  tree.classes = ClassesOf(names);
  tree.has_split_folders = is_divided_;
  tree.notes.push_back(data + ": " + CountsText());
  for (const std::string_view split : kSplits) {
    const auto found = splits_.find(split);
    if (found != splits_.end()) {
      std::ranges::sort(found->second, {}, &ImageFile::path);
      tree.splits.push_back({found->first, std::move(found->second)});
    }
  }
  return tree;
}

AnnotatedFolder::AnnotatedFolder(const std::string& folder)
    : root_(folder.ends_with('/') ? folder : folder + "/") {
  FolderWalk walk = WalkFolder(folder);
  images_ = std::move(walk.images);
  files_.insert(std::make_move_iterator(walk.ignored.begin()),
                std::make_move_iterator(walk.ignored.end()));
}

const FolderEntry* AnnotatedFolder::FindImage(std::string_view path) const {
  const auto found =
      std::ranges::lower_bound(images_, path, {}, &FolderEntry::name);
  return found != images_.end() && found->name == path ? &*found : nullptr;
}

const FolderEntry* AnnotatedFolder::FindImageOf(std::string_view stem) const {
  const std::string start = std::string(stem) + ".";
  auto found = std::ranges::lower_bound(images_, start, {}, &FolderEntry::name);
  for (; found != images_.end() && found->name.starts_with(start); ++found) {
    if (WithoutExtension(found->name) == stem) {
      return &*found;
    }
  }
  return nullptr;
}

std::vector<std::string> AnnotatedFolder::FilesIn(
    std::string_view folder) const {
  std::vector<std::string> found;
  for (auto file = files_.lower_bound(folder);
       file != files_.end() && file->starts_with(folder); ++file) {
    if (file->find('/', folder.size()) == std::string::npos) {
      found.push_back(*file);
    }
  }
  return found;
}

std::string AnnotatedFolder::FirstOf(
    const std::vector<std::string>& paths) const {
  const auto found = std::ranges::find_if(
      paths, [&](const std::string& path) { return files_.contains(path); });
  return found == paths.end() ? "" : *found;
}

std::string AnnotatedFolder::Read(std::string_view path,
                                  std::int64_t max_bytes) const {
  return ReadWhole(PathOf(path), max_bytes);
}

std::string_view SplitInPath(std::string_view path) {
  const std::string_view split = SplitOfFolder(path, SplitNamed).split;
  return split.empty() ? SplitOfFolder(path, NumberedSplit).split : split;
}

std::vector<std::string_view> SplitsInPaths(
    const std::string& folder, const std::vector<std::string_view>& paths) {
  std::vector<std::string_view> splits;
  std::map<std::string_view, std::string_view> understood;  // folders by split
  std::map<std::string_view, std::string_view> likely;
  bool is_divided = false;
  for (const std::string_view path : paths) {
    NamedSplit found = SplitOfFolder(path, SplitNamed);
    is_divided |= !found.split.empty();
    if (found.split.empty()) {
      found = SplitOfFolder(path, NumberedSplit);
    }
    splits.push_back(found.split);
    if (found.split.empty()) {
      found = SplitOfFolder(path, SplitByStart);
      likely.insert({found.split, found.folder});
    } else {
      understood.insert({found.split, found.folder});
    }
  }
  RefuseLikelySplits(folder, understood, likely);
  // That of coco128 is only a name: --split may divide it.
  if (!is_divided && understood.size() == 1 && understood.contains("train")) {
    std::ranges::fill(splits, "");
  }
  return splits;
}

std::string_view WithoutExtension(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::size_t slash = path.rfind('/');
  return dot == path.npos || (slash != path.npos && dot < slash)
             ? path
             : path.substr(0, dot);
}

std::string WithFolder(std::string_view path, std::string_view name,
                       std::string_view other) {
  const std::string lower = "/" + LowerCase(path);
  const std::size_t at = lower.rfind("/" + std::string(name) + "/");
  if (at == lower.npos) {
    return "";
  }
  return std::string(path.substr(0, at)) + std::string(other) +
         std::string(path.substr(at + name.size()));
}

}  // namespace infeed
