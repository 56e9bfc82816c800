#pragma once

#include <cstdint>
#include <optional>
#include <string>

// Reads small files and objects at once.
namespace infeed {

// Returns the bytes of a file, or of the object at a URL. Throws IoError when
// it cannot be read or is larger than max_bytes, and UsageError for an invalid
// URL.
[[nodiscard]] std::string ReadWhole(const std::string& path,
                                    std::int64_t max_bytes);

// The same; nullopt when there is no such file or object.
[[nodiscard]] std::optional<std::string> ReadWholeIfThere(
    const std::string& path, std::int64_t max_bytes);

}  // namespace infeed
