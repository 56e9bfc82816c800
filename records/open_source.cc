#include "records/open_source.h"

#include <algorithm>
#include <array>

#include "records/object_source.h"

namespace infeed {

bool IsUrl(std::string_view path) {
  constexpr std::array<std::string_view, 4> kSchemes = {"http://", "https://",
                                                        "s3://", "gs://"};
  return std::any_of(
      kSchemes.begin(), kSchemes.end(),
      [&](std::string_view scheme) { return path.starts_with(scheme); });
}

std::unique_ptr<ByteSource> OpenSource(const std::string& path) {
  if (IsUrl(path)) {
    return std::make_unique<ObjectSource>(path);
  }
  return std::make_unique<FileSource>(path);
}

}  // namespace infeed
