#include "records/files/folder_listing.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/base_name.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/cloud_runtime.h"
#include "records/cloud/fetch_pool.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/http/url.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

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

void TakeFile(const fs::directory_entry& entry, std::string name,
              FolderListing& listing) {
  if (!HasImageExtension(name)) {
    listing.ignored.push_back(std::move(name));
    return;
  }
  std::error_code error;
  const std::uintmax_t bytes = entry.file_size(error);
  if (error == std::errc::not_supported) {
    throw IoError(entry.path().string() +
                  ": cannot read: it is not a regular file");
  }
  ThrowOn(error, entry.path().string(), "read");
  listing.images.push_back({std::move(name), static_cast<std::int64_t>(bytes)});
}

void TakeEntry(const fs::directory_entry& entry, FolderListing& listing) {
  std::string name = entry.path().filename().string();
  if (IsHiddenName(name)) {
    listing.ignored.push_back(std::move(name));
    return;
  }
  std::error_code ignored;  // A dangling link counts as a file.
  if (entry.is_directory(ignored)) {
    listing.folders.push_back(std::move(name));
  } else {
    TakeFile(entry, std::move(name), listing);
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

FolderListing ListFiles(const std::string& path) {
  std::error_code error;
  fs::directory_iterator entry(path, error);
  ThrowOn(error, path, "list");
  FolderListing listing;
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    TakeEntry(*entry, listing);
  }
  ThrowOn(error, path, "list");
  return listing;
}

void Sort(FolderListing& listing) {
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.ignored.begin(), listing.ignored.end());
  std::sort(listing.images.begin(), listing.images.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

}  // namespace

FolderListing ListFolder(const std::string& path) {
  FolderListing listing =
      IsUrl(path) ? ListObjectFolder(path) : ListFiles(path);
  Sort(listing);
  return listing;
}

std::vector<FolderListing> ListFolders(const std::vector<std::string>& paths) {
  std::vector<FolderListing> listings(paths.size());
  const auto list = [&](std::size_t i) { listings[i] = ListFolder(paths[i]); };
  if (paths.empty()) {
    return listings;
  }
  if (IsUrl(paths.front())) {
    SharedCloudRuntime()->pool->ForEach(paths.size(), list);
  } else {
    FetchPool(static_cast<int>(std::min(paths.size(), kListingThreads) - 1))
        .ForEach(paths.size(), list);
  }
  return listings;
}

bool IsHiddenName(std::string_view name) {
  return name.starts_with('.') || name == "__MACOSX";
}

bool HasImageExtension(std::string_view name) {
  return std::ranges::find(kImageExtensions, LowerCase(Extension(name))) !=
         kImageExtensions.end();
}

}  // namespace infeed
