#include "records/open_source.h"

#include <algorithm>
#include <array>

#include "records/cloud_settings.h"
#include "records/object_source.h"
#include "records/shard_cache.h"

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

}  // namespace infeed
