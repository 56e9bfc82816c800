#pragma once

#include <map>
#include <optional>
#include <string>

namespace infeed {

// The "name = value" lines of one [section] of a file as the AWS tools write
// it; nullopt when there is no such file or section. Throws IoError for a file
// that cannot be read, and UsageError, naming the file and the line, for one
// that is no such file; messages never hold a value.
[[nodiscard]] std::optional<std::map<std::string, std::string>> ReadAwsProfile(
    const std::string& path, const std::string& section);

}  // namespace infeed
