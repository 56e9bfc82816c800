#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The names of a data set's classes, as others may have written them.
namespace infeed {

// Labels that say more than this are no classes, but numbers of something else;
// a network with an output for each would not fit into memory.
inline constexpr int kMostClasses = 100'000;

// Throws DataError for more than kMostClasses.
void CheckClassCount(std::size_t classes);

// Throws DataError for a name with a control character: it could not stand in
// labels.txt, where a line is a name.
void CheckClassName(std::string_view name);

// Throws DataError for a line, counted from 1, that cannot be the name of a
// class: with a control character, or not in UTF-8, which JSON needs.
void CheckClassLine(const std::string& path, std::size_t line,
                    std::string_view text);

// Reads a file of names, one a line: labels.txt. None where there is no file;
// the path may be a URL: none there. Throws as the three above.
[[nodiscard]] std::vector<std::string> ReadClassList(const std::string& path);

}  // namespace infeed
