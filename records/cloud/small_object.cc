#include "records/cloud/small_object.h"

#include <span>

#include "base/error.h"
#include "records/http/url.h"

namespace infeed {

std::optional<std::string> ReadSmallObject(const ObjectStore& store,
                                           const std::string& url,
                                           std::int64_t max_bytes) {
  const std::optional<ObjectInfo> info = store.Find(url);
  if (!info) {
    return std::nullopt;
  }
  if (info->size > max_bytes) {
    throw IoError(UrlForMessages(url) + ": has " + std::to_string(info->size) +
                  " bytes, more than the " + std::to_string(max_bytes) +
                  " allowed");
  }
  std::string bytes(static_cast<std::size_t>(info->size), '\0');
  store.Read(url, 0, std::as_writable_bytes(std::span(bytes)), *info);
  return bytes;
}

}  // namespace infeed
