#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The names of a data set's classes, checked, as they may be user-written.
namespace infeed {

// Larger labels are not class numbers but something else; a network with an
// output for each would not fit into memory.
inline constexpr int kMostClasses = 100'000;

// Throws DataError for more than kMostClasses.
void CheckClassCount(std::size_t classes);

// Throws DataError for a name with a control character: labels.txt has one name
// a line.
void CheckClassName(std::string_view name);

// Throws DataError for a line, counted from 1, that cannot be a class name: it
// has a control character.
void CheckClassLine(const std::string& path, std::size_t line,
                    std::string_view text);

// Adds a note for the user if there is only one class, of which no network
// learns: most likely another folder was meant. Not twice.
void NoteOneClass(const std::vector<std::string>& classes,
                  std::vector<std::string>& notes);

// Reads a file with one name a line, such as labels.txt, as text (NameText()).
// A byte-order mark is skipped. Empty if there is no
// file, or if the path is a URL. Throws as the three functions above.
[[nodiscard]] std::vector<std::string> ReadClassList(const std::string& path);

}  // namespace infeed
