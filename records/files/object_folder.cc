#include "records/files/object_folder.h"

#include <memory>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "records/cloud/object_store.h"
#include "records/http/url.h"

namespace infeed {
namespace {

// A name under a "folder" of a bucket. A tool that made the folder may have
// left an object of its very name.
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
  if (name.starts_with('.') || !HasImageExtension(name)) {
    listing.ignored.push_back(std::move(name));
    return;
  }
  auto info = std::make_shared<const ObjectInfo>(
      ObjectInfo{.size = object.size, .etag = std::move(object.etag)});
  listing.images.push_back({std::move(name), object.size, std::move(info)});
}

}  // namespace

FolderListing ListObjectFolder(const std::string& url) {
  const std::string folder = url.ends_with('/') ? url : url + "/";
  if (!IsBucketScheme(ParseUrl(folder).scheme)) {
    throw UsageError(UrlForMessages(url) +
                     ": a web server has no list of its files (give a folder, "
                     "s3:// or gs://)");
  }
  ObjectListing found = SharedObjectStore()->List(folder);
  if (found.objects.empty() && found.folders.empty()) {
    throw IoError(url + ": cannot list: nothing lies there (check the URL)");
  }
  FolderListing listing;
  for (ObjectEntry& object : found.objects) {
    TakeObject(folder, object, listing);
  }
  for (const std::string& subfolder : found.folders) {
    std::string name = NameIn(folder, subfolder);
    const bool hidden = name.empty() || name.starts_with('.');
    (hidden ? listing.ignored : listing.folders).push_back(std::move(name));
  }
  return listing;
}

}  // namespace infeed
