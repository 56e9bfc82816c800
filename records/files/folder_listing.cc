#include "records/files/folder_listing.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/cloud_runtime.h"
#include "records/cloud/fetch_pool.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/http/url.h"

namespace infeed {
namespace {

constexpr std::array<std::string_view, 16> kImageExtensions = {
    "bmp", "j2k", "jfif", "jp2", "jpe", "jpeg", "jpg",  "pam",
    "pbm", "pgm", "png",  "pnm", "ppm", "tif",  "tiff", "webp"};

// Network disks answer slowly, but many requests at once.
constexpr std::size_t kListingThreads = 16;

void ThrowOn(const std::error_code& error, const std::string& path,
             std::string_view action) {
  if (error) {
    throw IoError(path, action, error.value());
  }
}

// The status of an entry, links followed.
struct EntryStatus {
  bool is_folder = false;
  std::int64_t bytes = 0;
  std::error_code error = {};  // why it cannot be read as a file
};

EntryStatus FindStatus(DIR* folder, const char* name) {
  struct stat status {};
  if (::fstatat(::dirfd(folder), name, &status, 0) != 0) {
    return {.error = {errno, std::generic_category()}};
  }
  if (S_ISDIR(status.st_mode)) {
    return {.is_folder = true};
  }
  if (!S_ISREG(status.st_mode)) {
    return {.error = std::make_error_code(std::errc::not_supported)};
  }
  return {.bytes = status.st_size};
}

// There may be millions of entries, and each status is a system call: it is
// read of images, for their size, and of links, by the name in the open folder,
// as all folders of a whole path would be looked up again.
void TakeEntry(DIR* folder, const dirent& entry, FolderListing& listing) {
  std::string name = entry.d_name;
  if (IsHiddenName(name)) {
    if (name != "." && name != "..") {
      listing.ignored.push_back(std::move(name));
    }
    return;
  }
  const bool is_image = HasImageExtension(name);
  EntryStatus status = {.is_folder = entry.d_type == DT_DIR};
  if (!status.is_folder &&
      (is_image || entry.d_type == DT_LNK || entry.d_type == DT_UNKNOWN)) {
    status = FindStatus(folder, entry.d_name);
  }
  if (status.is_folder) {
    listing.folders.push_back(std::move(name));
  } else if (is_image) {
    listing.images.push_back({.name = std::move(name),
                              .bytes = status.bytes,
                              .error = status.error});
  } else if (status.error && status.error != std::errc::not_supported) {
    listing.broken.push_back({.name = std::move(name), .error = status.error});
  } else {
    listing.ignored.push_back(std::move(name));
  }
}

// The name of an object below a "folder" of a bucket. "" for an object with the
// folder's own name, as tools leave when they make the folder.
std::string NameIn(std::string_view folder, std::string_view url) {
  url.remove_prefix(folder.size());
  return std::string(url.substr(0, url.find('/')));
}

void TakeObject(const std::string& folder, ObjectEntry& object,
                FolderListing& listing) {
  std::string name = NameIn(folder, object.url);
  if (name.empty()) {
    return;
  }
  if (IsHiddenName(name) || !HasImageExtension(name)) {
    listing.ignored.push_back(std::move(name));
    return;
  }
  auto info = std::make_shared<const ObjectInfo>(
      ObjectInfo{.size = object.size, .etag = std::move(object.etag)});
  listing.images.push_back({std::move(name), object.size, std::move(info)});
}

// Lists a "folder" of a bucket, s3://BUCKET/FOLDER or gs://..., in the store's
// order.
FolderListing ListObjectFolder(const std::string& url) {
  const std::string folder = url.ends_with('/') ? url : url + "/";
  if (!IsBucketScheme(ParseUrl(folder).scheme)) {
    throw UsageError(
        UrlForMessages(url) +
        ": a web server cannot list its files (give a folder, s3:// or gs://)");
  }
  ObjectListing found = SharedObjectStore()->List(folder);
  if (found.objects.empty() && found.folders.empty()) {
    throw IoError(url + ": cannot list: no such folder (check the URL)");
  }
  FolderListing listing;
  for (ObjectEntry& object : found.objects) {
    TakeObject(folder, object, listing);
  }
  for (const std::string& subfolder : found.folders) {
    std::string name = NameIn(folder, subfolder);
    const bool hidden = name.empty() || IsHiddenName(name);
    (hidden ? listing.ignored : listing.folders).push_back(std::move(name));
  }
  return listing;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

FolderListing ListFiles(const std::string& path) {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  if (folder == nullptr) {
    throw IoError(path, "list", errno);
  }
  FolderListing listing;
  for (;;) {
    errno = 0;  // The end leaves it, an error sets it.
    const dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr) {
      break;
    }
    TakeEntry(folder.get(), *entry, listing);
  }
  if (errno != 0) {
    throw IoError(path, "list", errno);
  }
  return listing;
}

void Sort(FolderListing& listing) {
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.ignored.begin(), listing.ignored.end());
  std::sort(listing.images.begin(), listing.images.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

// Calls list(i) for each path i, several at a time.
void InParallel(const std::vector<std::string>& paths,
                const std::function<void(std::size_t)>& list) {
  if (paths.empty()) {
    return;
  }
  if (IsUrl(paths.front())) {
    SharedCloudRuntime()->pool->ForEach(paths.size(), list);
  } else {
    FetchPool(static_cast<int>(std::min(paths.size(), kListingThreads) - 1))
        .ForEach(paths.size(), list);
  }
}

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
  Walker(const std::string& folder, UnreadableFiles unreadable)
      : start_(folder.ends_with('/') ? folder : folder + "/"),
        unreadable_(unreadable) {}

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
      std::vector<FolderListing> listings(paths.size());
      InParallel(paths, [&](std::size_t i) {
        listings[i] = ListFolder(paths[i]);
        NameByPath(level[i].path, listings[i].images);
      });
      std::size_t images = walk_.images.size();
      for (const FolderListing& listing : listings) {
        images += listing.images.size();
      }
      walk_.images.reserve(images);
      for (std::size_t i = 0; i < level.size(); ++i) {
        Take(level[i], listings[i]);
      }
    }
    if (!is_sorted_) {
      std::ranges::sort(walk_.images, {}, &FolderEntry::name);
    }
    std::ranges::sort(walk_.empty);
    std::ranges::sort(walk_.ended);
    return std::move(walk_);
  }

 private:
  // Puts the folder before the images' names, with room for the walk's start,
  // which most callers put before that.
  void NameByPath(const std::string& folder,
                  std::vector<FolderEntry>& images) const {
    for (FolderEntry& image : images) {
      std::string path;
      path.reserve(start_.size() + folder.size() + image.name.size());
      image.name = std::move(path.append(folder).append(image.name));
    }
  }

  void Take(const OpenFolder& folder, FolderListing& listing) {
    if (!folder.path.empty() && listing.images.empty() &&
        listing.folders.empty()) {
      walk_.empty.push_back(folder.path.substr(0, folder.path.size() - 1));
    }
    is_sorted_ =
        is_sorted_ && (walk_.images.empty() || listing.images.empty() ||
                       walk_.images.back().name < listing.images.front().name);
    for (FolderEntry& image : listing.images) {
      if (image.error && unreadable_ == UnreadableFiles::kThrow) {
        Refuse(image);
      }
      walk_.images.push_back(std::move(image));
    }
    if (!listing.broken.empty()) {
      const FolderEntry& link = listing.broken.front();
      throw IoError(start_ + folder.path + link.name +
                    ": cannot follow the link: " + link.error.message() +
                    ": restore what it leads to, or remove the link");
    }
    for (const std::string& name : listing.ignored) {
      walk_.ignored.push_back(folder.path + name);
    }
    for (const std::string& name : listing.folders) {
      Open(folder, name);
    }
  }

  void Refuse(const FolderEntry& image) const {
    const std::string path = start_ + image.name;
    if (image.error == std::errc::not_supported) {
      throw IoError(path + ": cannot read: it is not a regular file");
    }
    ThrowOn(image.error, path, "read");
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
  UnreadableFiles unreadable_;
  std::vector<OpenFolder> open_;
  bool is_sorted_ = true;  // walk_.images
  std::map<std::string, std::set<FolderInode>> walked_;
  FolderWalk walk_;
};

}  // namespace

FolderListing ListFolder(const std::string& path) {
  FolderListing listing =
      IsUrl(path) ? ListObjectFolder(path) : ListFiles(path);
  Sort(listing);
  return listing;
}

bool IsHiddenName(std::string_view name) {
  return name.starts_with('.') || name == "__MACOSX";
}

bool HasImageExtension(std::string_view name) {
  return std::ranges::find(kImageExtensions, LowerCase(Extension(name))) !=
         kImageExtensions.end();
}

FolderWalk WalkFolder(const std::string& folder, UnreadableFiles unreadable) {
  return Walker(folder, unreadable).Run();
}

}  // namespace infeed
