#include "records/files/open_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "records/bytes/base_name.h"
#include "records/cloud/cloud_settings.h"
#include "records/cloud/object_source.h"
#include "records/cloud/object_store.h"
#include "records/files/shard_cache.h"
#include "records/http/url.h"

namespace infeed {

bool IsUrl(std::string_view path) {
  constexpr std::array<std::string_view, 4> kSchemes = {"http://", "https://",
                                                        "s3://", "gs://"};
  return std::any_of(
      kSchemes.begin(), kSchemes.end(),
      [&](std::string_view scheme) { return path.starts_with(scheme); });
}

std::unique_ptr<ByteSource> OpenSource(const std::string& path) {
  if (!IsUrl(path)) {
    return std::make_unique<FileSource>(path);
  }
  const std::shared_ptr<ShardCache> cache = SharedShardCache();
  if (cache == nullptr) {
    return std::make_unique<ObjectSource>(path);
  }
  std::unique_ptr<ByteSource> source = cache->Open(path);
  if (const std::string warning = cache->TakeWarning(); !warning.empty()) {
    if (const auto tell = cloud_settings().on_warning) {
      tell(warning);
    }
  }
  return source;
}

std::string PathForMessages(const std::string& path) {
  return IsUrl(path) ? UrlForMessages(path) : path;
}

std::string FileNameOf(const std::string& path) {
  return std::string(BaseName(PathForMessages(path)));
}

bool IsThere(const std::string& path) {
  if (IsUrl(path)) {
    return SharedObjectStore()->Find(path).has_value();
  }
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace infeed
