#include "records/files/open_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/own_files.h"
#include "base/shown_text.h"
#include "records/bytes/plain_text.h"
#include "records/cloud/cloud_settings.h"
#include "records/cloud/object_source.h"
#include "records/cloud/object_store.h"
#include "records/files/shard_cache.h"
#include "records/http/url.h"

namespace infeed {
namespace {

// Whether a text begins as HTML does.
bool IsWebPage(std::string_view text) {
  text = WithoutMark(text);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string begin = LowerCase(text.substr(0, 14));
  return begin.starts_with("<!doctype html") || begin.starts_with("<html");
}

}  // namespace

bool IsUrl(std::string_view path) {
  constexpr std::array<std::string_view, 4> kSchemes = {"http", "https", "s3",
                                                        "gs"};
  const std::size_t end = path.find(':');
  return end <= kSchemes[1].size() && path.substr(end).starts_with("://") &&
         std::ranges::find(kSchemes, LowerCase(path.substr(0, end))) !=
             kSchemes.end();
}

std::string OneUrl(std::string path) {
  if (IsUrl(path)) {
    const std::size_t end = path.find(':');
    path.replace(0, end, LowerCase(std::string_view(path).substr(0, end)));
  }
  return path;
}

std::unique_ptr<ByteSource> OpenSource(const std::string& path) {
  if (!IsUrl(path)) {
    return std::make_unique<FileSource>(path);
  }
  if (const std::shared_ptr<ShardCache> cache = SharedShardCache()) {
    return cache->Open(path);
  }
  return std::make_unique<ObjectSource>(path);
}

std::string PathForMessages(const std::string& path) {
  return IsUrl(path) ? UrlForMessages(path) : path;
}

std::string FileNameOf(const std::string& path) {
  return std::string(IsUrl(path) ? BaseName(UrlForMessages(path))
                                 : BaseName(path));
}

bool IsThere(const std::string& path) {
  if (IsUrl(path)) {
    return SharedObjectStore()->Find(path).has_value();
  }
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string ReadAll(const ByteSource& source, std::int64_t max_bytes) {
  if (source.size() > max_bytes) {
    throw IoError(source.path() + ": has " + std::to_string(source.size()) +
                  " bytes, more than the limit of " +
                  std::to_string(max_bytes));
  }
  std::string bytes(static_cast<std::size_t>(source.size()), '\0');
  (void)source.ReadAt(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string ReadWhole(const std::string& path, std::int64_t max_bytes,
                      int own_names) {
  if (IsUrl(path)) {
    return ReadAll(ObjectSource(path), max_bytes);
  }
  return own_names == kNamedByUser
             ? ReadFileOrPipe(path, max_bytes, cloud_settings().retry.stop)
             : ReadWholeFile(path, max_bytes);
}

std::optional<std::string> ReadWholeIfThere(const std::string& path,
                                            std::int64_t max_bytes) {
  if (!IsUrl(path)) {
    return IsThere(path) ? std::optional(ReadWholeFile(path, max_bytes))
                         : std::nullopt;
  }
  const std::optional<ObjectInfo> info = SharedObjectStore()->Find(path);
  if (!info) {
    return std::nullopt;
  }
  std::string text = ReadAll(ObjectSource(path, *info), max_bytes);
  return IsBucketScheme(ParseUrl(path).scheme) || !IsWebPage(text)
             ? std::optional(std::move(text))
             : std::nullopt;
}

}  // namespace infeed
