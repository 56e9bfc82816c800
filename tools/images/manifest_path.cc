#include "tools/images/manifest_path.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>

#include "records/cloud/cloud_runtime.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/http/url.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;

std::string UrlFrom(const std::string& folder, const std::string& written) {
  Url url = ParseUrl(folder);
  const bool in_bucket = IsBucketScheme(url.scheme);
  const std::string relative =
      in_bucket ? written : PercentEncode(written, Slashes::kKeep);
  const fs::path start =
      in_bucket ? fs::path(url.path) : "/" / fs::path(url.path);
  url.path = (start / relative).lexically_normal().string();
  return FormatUrl(url);
}

}  // namespace

std::string FolderOfManifest(const std::string& manifest) {
  if (!IsUrl(manifest)) {
    return fs::path(manifest).parent_path().string();
  }
  Url url = ParseUrl(manifest);
  url.query.clear();
  url.path = fs::path(url.path).parent_path().string();
  return FormatUrl(url);
}

std::string ImagePathFrom(const std::string& folder,
                          const std::string& written) {
  if (IsUrl(written)) {
    return FormatUrl(ParseUrl(written));
  }
  if (IsUrl(folder) && !fs::path(written).is_absolute()) {
    return UrlFrom(folder, written);
  }
  return (fs::path(folder) / written).lexically_normal().string();
}

const ImageFile* FindObjects(const std::vector<ImageFile*>& images) {
  std::vector<ImageFile*> remote;
  for (ImageFile* const image : images) {
    if (IsUrl(image->path)) {
      remote.push_back(image);
    }
  }
  const auto find = [&](std::size_t i) {
    std::optional<ObjectInfo> info = SharedObjectStore()->Find(remote[i]->path);
    if (info) {
      remote[i]->bytes = info->size;
      remote[i]->object = std::make_shared<const ObjectInfo>(*std::move(info));
    }
  };
  if (!remote.empty()) {
    SharedCloudRuntime()->pool->ForEach(remote.size(), find);
  }
  for (const ImageFile* const image : remote) {
    if (image->object == nullptr) {
      return image;
    }
  }
  return nullptr;
}

}  // namespace infeed
