#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "records/bytes/byte_source.h"

namespace infeed {

// Whether a name is a URL of a kind that can be read: http(s), s3, gs, in any
// case.
[[nodiscard]] bool IsUrl(std::string_view path);

// A URL with its scheme in lower case; other names as they are.
[[nodiscard]] std::string OneUrl(std::string path);

// Opens a file, or the object at a URL: its local copy if cloud_settings() have
// a cache folder. Throws IoError, and UsageError for an invalid URL.
[[nodiscard]] std::unique_ptr<ByteSource> OpenSource(const std::string& path);

// Returns a path unchanged, and a URL as UrlForMessages() does.
[[nodiscard]] std::string PathForMessages(const std::string& path);

// The last part of a path, or of a URL without its query. Files derived from it
// are named after it.
[[nodiscard]] std::string FileNameOf(const std::string& path);

// Whether the file or object exists. Throws what OpenSource() throws.
[[nodiscard]] bool IsThere(const std::string& path);

// Returns all bytes of a source. Throws IoError also for more than max_bytes.
[[nodiscard]] std::string ReadAll(const ByteSource& source,
                                  std::int64_t max_bytes);
// Returns the bytes of a regular file, or of the object at a URL; of a pipe too
// if own_names is kNamedByUser. Throws IoError when it cannot be read or is
// larger than max_bytes, or at EndCloudRequestsAt(); UsageError for an invalid
// URL.
[[nodiscard]] std::string ReadWhole(const std::string& path,
                                    std::int64_t max_bytes, int own_names = 1);

// Reads a file that infeed names; nullopt when there is no such file or object.
// An HTML page is none: web servers give one, with status 200, in the place of
// files that they do not have.
[[nodiscard]] std::optional<std::string> ReadWholeIfThere(
    const std::string& path, std::int64_t max_bytes);

}  // namespace infeed
