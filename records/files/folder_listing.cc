#include "records/files/folder_listing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "records/cloud/cloud_runtime.h"
#include "records/files/object_folder.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 15> kImageExtensions = {
    "bmp", "j2k", "jfif", "jp2", "jpe", "jpeg", "jpg", "pbm",
    "pgm", "png", "pnm",  "ppm", "tif", "tiff", "webp"};

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
  ThrowOn(error, entry.path().string(), "read");
  listing.images.push_back({std::move(name), static_cast<std::int64_t>(bytes)});
}

void TakeEntry(const fs::directory_entry& entry, FolderListing& listing) {
  std::string name = entry.path().filename().string();
  if (name.starts_with('.')) {  // .DS_Store, ._photo.jpg, .git
    listing.ignored.push_back(std::move(name));
    return;
  }
  std::error_code ignored;  // A dangling link is a file that cannot be read.
  if (entry.is_directory(ignored)) {
    listing.folders.push_back(std::move(name));
  } else {
    TakeFile(entry, std::move(name), listing);
  }
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

bool FolderListing::HasFolder(std::string_view name) const {
  return std::binary_search(folders.begin(), folders.end(), name);
}

FolderListing ListFolder(const std::string& path) {
  FolderListing listing =
      IsUrl(path) ? ListObjectFolder(path) : ListFiles(path);
  Sort(listing);
  return listing;
}

std::vector<FolderListing> ListFolders(const std::vector<std::string>& paths) {
  std::vector<FolderListing> listings(paths.size());
  const auto list = [&](std::size_t i) { listings[i] = ListFolder(paths[i]); };
  if (!paths.empty() && IsUrl(paths.front())) {
    SharedCloudRuntime()->pool->ForEach(paths.size(), list);
  } else {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      list(i);
    }
  }
  return listings;
}

bool HasImageExtension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) {
    return false;
  }
  std::string extension(name.substr(dot + 1));
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::find(kImageExtensions.begin(), kImageExtensions.end(),
                   extension) != kImageExtensions.end();
}

}  // namespace infeed
