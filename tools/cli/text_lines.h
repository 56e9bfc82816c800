#pragma once

#include <string>
#include <string_view>
#include <vector>

// Small text files that people write: one thing a line.
namespace infeed {

// The characters that separate words within a line.
inline constexpr std::string_view kBlanks = " \t\r";

// Returns a text without the blanks around it.
[[nodiscard]] std::string_view Trim(std::string_view text);

// Returns the lines without blanks around them; empty ones at the end are left
// out.
[[nodiscard]] std::vector<std::string> Lines(std::string_view text);

// Reads the lines of a file, or of the object that a URL names. Throws
// IoError, and DataError for an empty line that is not at the end.
[[nodiscard]] std::vector<std::string> ReadLines(const std::string& path);

}  // namespace infeed
