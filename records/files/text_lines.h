#pragma once

#include <string>
#include <string_view>
#include <vector>

// Small text files written by hand: one entry per line.
namespace infeed {

// The characters that separate words within a line.
inline constexpr std::string_view kBlanks = " \t\r";

// Returns a text without leading and trailing blanks.
[[nodiscard]] std::string_view Trim(std::string_view text);

// Returns the lines without leading and trailing blanks, and without empty
// lines at the end. A byte-order mark is skipped.
[[nodiscard]] std::vector<std::string> Lines(std::string_view text);

// The lines of a file's text. Throws DataError for an empty line that is not at
// the end.
[[nodiscard]] std::vector<std::string> CheckedLines(const std::string& path,
                                                    std::string_view text);

// Reads the lines of a file, or of the object that a URL names; of a pipe too
// if own_names is kNamedByUser. Throws IoError and as CheckedLines().
[[nodiscard]] std::vector<std::string> ReadLines(const std::string& path,
                                                 int own_names = 1);

}  // namespace infeed
