#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "records/bytes/byte_source.h"

namespace infeed {

// Whether a name is a URL of a kind that can be read: http(s), s3, gs.
[[nodiscard]] bool IsUrl(std::string_view path);

// Opens a file, or the object that a URL names, or the local copy of it where
// cloud_settings() name a cache. Throws IoError, and UsageError for a URL that
// is none.
[[nodiscard]] std::unique_ptr<ByteSource> OpenSource(const std::string& path);

// A path as it is; a URL as UrlForMessages() shows it.
[[nodiscard]] std::string PathForMessages(const std::string& path);

// The last part of a path, or of a URL without its query: what files that are
// made from it are called.
[[nodiscard]] std::string FileNameOf(const std::string& path);

// Whether a file or an object is there. Throws what OpenSource() throws.
[[nodiscard]] bool IsThere(const std::string& path);

}  // namespace infeed
