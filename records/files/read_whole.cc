#include "records/files/read_whole.h"

#include <cstddef>
#include <span>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/cloud/object_source.h"
#include "records/cloud/object_store.h"
#include "records/files/open_source.h"
#include "records/http/url.h"

namespace infeed {
namespace {

std::string ReadObject(const std::string& url, const ObjectInfo& info,
                       std::int64_t max_bytes) {
  if (info.size > max_bytes) {
    throw IoError(UrlForMessages(url) + ": has " + std::to_string(info.size) +
                  " bytes, more than the limit of " +
                  std::to_string(max_bytes));
  }
  std::string bytes(static_cast<std::size_t>(info.size), '\0');
  (void)ObjectSource(url, info).ReadAt(
      0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace

std::string ReadWhole(const std::string& path, std::int64_t max_bytes) {
  return IsUrl(path)
             ? ReadObject(path, SharedObjectStore()->Stat(path), max_bytes)
             : ReadWholeFile(path, max_bytes);
}

std::optional<std::string> ReadWholeIfThere(const std::string& path,
                                            std::int64_t max_bytes) {
  if (!IsUrl(path)) {
    return IsThere(path) ? std::optional(ReadWholeFile(path, max_bytes))
                         : std::nullopt;
  }
  const std::optional<ObjectInfo> info = SharedObjectStore()->Find(path);
  return info ? std::optional(ReadObject(path, *info, max_bytes))
              : std::nullopt;
}

}  // namespace infeed
