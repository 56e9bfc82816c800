#include "records/files/folder_walk.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "records/files/open_source.h"

namespace infeed {
namespace {

using FolderInode = std::pair<dev_t, ino_t>;

// The folders of splits, of classes, and one around both are at most so deep: a
// folder that is linked to twice there has its images twice.
constexpr std::size_t kClassDepth = 3;

// A folder to be listed.
struct OpenFolder {
  std::string path = {};  // relative, with a slash at its end; "": the first
  std::vector<FolderInode> above = {};  // itself included
};

// The folders around a folder, whose path ends in a slash: a link to one of
// them would lead back to it, and to all that is beside it.
std::vector<FolderInode> FoldersAround(std::string path) {
  std::vector<FolderInode> folders;
  struct stat status {};
  while (!IsUrl(path) && ::stat(path.c_str(), &status) == 0) {
    const FolderInode folder(status.st_dev, status.st_ino);
    if (!folders.empty() && folders.back() == folder) {
      break;  // The root is in itself.
    }
    folders.push_back(folder);
    path += "../";
  }
  if (!folders.empty()) {  // Not the folder itself.
    folders.erase(folders.begin());
  }
  return folders;
}

// The first folders of a path.
std::string ClassFolderOf(std::string_view path) {
  std::size_t end = 0;
  for (std::size_t depth = 0; depth < kClassDepth && end < path.size();
       ++depth) {
    end = path.find('/', end) + 1;
  }
  return std::string(path.substr(0, end));
}

// Walks level by level, so that folders are listed in parallel.
class Walker {
 public:
  explicit Walker(const std::string& folder)
      : start_(folder.ends_with('/') ? folder : folder + "/") {}

  FolderWalk Run() {
    Open({.above = FoldersAround(start_)}, "");
    while (!open_.empty()) {
      const std::vector<OpenFolder> level = std::exchange(open_, {});
      std::vector<std::string> paths;
      for (const OpenFolder& folder : level) {
        std::string path = start_ + folder.path;
        path.erase(path.size() > 1 ? path.size() - 1 : path.size());
        paths.push_back(std::move(path));
      }
      std::vector<FolderListing> listings = ListFolders(paths);
      for (std::size_t i = 0; i < level.size(); ++i) {
        Take(level[i], listings[i]);
      }
    }
    if (!std::ranges::is_sorted(walk_.images, {}, &FolderEntry::name)) {
      std::ranges::sort(walk_.images, {}, &FolderEntry::name);
    }
    std::ranges::sort(walk_.empty);
    std::ranges::sort(walk_.ended);
    return std::move(walk_);
  }

 private:
  void Take(const OpenFolder& folder, FolderListing& listing) {
    if (!folder.path.empty() && listing.images.empty() &&
        listing.folders.empty()) {
      walk_.empty.push_back(folder.path.substr(0, folder.path.size() - 1));
    }
    for (FolderEntry& image : listing.images) {
      image.name.insert(0, folder.path);
      walk_.images.push_back(std::move(image));
    }
    for (const std::string& name : listing.ignored) {
      walk_.ignored.push_back(folder.path + name);
    }
    for (const std::string& name : listing.folders) {
      Open(folder, name);
    }
  }

  // Lists a folder in another one in the next level, unless it was walked.
  void Open(const OpenFolder& in, const std::string& name) {
    OpenFolder folder = {.path = name.empty() ? "" : in.path + name + "/",
                         .above = in.above};
    struct stat status {};
    if (!IsUrl(start_) &&
        ::stat((start_ + folder.path).c_str(), &status) == 0) {
      const FolderInode own(status.st_dev, status.st_ino);
      if (std::ranges::count(folder.above, own) > 0 ||
          !walked_[ClassFolderOf(folder.path)].insert(own).second) {
        walk_.ended.push_back(in.path + name);
        return;
      }
      folder.above.push_back(own);
    }
    open_.push_back(std::move(folder));
  }

  std::string start_;
  std::vector<OpenFolder> open_;
  std::map<std::string, std::set<FolderInode>> walked_;
  FolderWalk walk_;
};

}  // namespace

FolderWalk WalkFolder(const std::string& folder) {
  return Walker(folder).Run();
}

}  // namespace infeed
