#include "tools/images/annotated_folder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "records/bytes/base_name.h"
#include "records/bytes/plain_text.h"
#include "records/files/folder_walk.h"
#include "records/files/open_source.h"
#include "records/files/split_names.h"

namespace infeed {

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

std::string AnnotatedFolder::FirstOf(
    const std::vector<std::string>& paths) const {
  const auto found = std::ranges::find_if(
      paths, [&](const std::string& path) { return files_.contains(path); });
  return found == paths.end() ? "" : *found;
}

std::string AnnotatedFolder::PathOf(std::string_view path) const {
  return root_ + std::string(path);
}

ImageFile AnnotatedFolder::FileOf(const FolderEntry& image) const {
  return {
      .path = PathOf(image.name), .bytes = image.bytes, .object = image.object};
}

std::string AnnotatedFolder::Read(std::string_view path,
                                  std::int64_t max_bytes) const {
  return ReadWhole(PathOf(path), max_bytes);
}

std::string_view SplitInPath(std::string_view path) {
  for (; path.find('/') != path.npos; path = BelowFirstFolder(path)) {
    if (const std::string_view split = SplitNamed(FirstFolder(path));
        !split.empty()) {
      return split;
    }
  }
  return "";
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
