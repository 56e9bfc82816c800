#pragma once

#include <map>
#include <optional>
#include <string>

namespace infeed {

// Returns the "name = value" lines of one [section] of an AWS configuration
// file; nullopt when the file or section does not exist. Throws IoError for a
// file that cannot be read, and UsageError, naming file and line, for one with
// another format; messages never contain a value.
[[nodiscard]] std::optional<std::map<std::string, std::string>> ReadAwsProfile(
    const std::string& path, const std::string& section);

}  // namespace infeed
