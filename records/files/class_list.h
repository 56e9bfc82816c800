#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The names of a data set's classes and their texts, checked, as they may be
// user-written.
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

// Throws DataError for lines of a data set's labels.txt that would be wrong
// names: an empty line, or lines that all begin with their number from 0 on and
// a colon.
void CheckClassLines(const std::string& path,
                     const std::vector<std::string>& lines);

// Adds a note for the user if there is only one class, of which no network
// learns: most likely another folder was meant. Not twice.
void NoteOneClass(const std::vector<std::string>& classes,
                  std::vector<std::string>& notes);

// Reads a file with one name a line, such as labels.txt, as text (NameText()).
// A byte-order mark and blank lines at the end are skipped. The path may be a
// URL. Empty if there is no file. Throws as the three functions above, and
// IoError.
[[nodiscard]] std::vector<std::string> ReadClassList(const std::string& path);

// Readable names of classes, which become image/class/text, by class; classes
// without one are missing.
using ClassTexts = std::map<std::string, std::string>;

// Whether FindClassTexts() may ask for a file of that base name.
[[nodiscard]] bool IsClassTextFile(std::string_view base_name);

// Reads the readable names of classes from class_names.txt or, if that is
// missing, from ImageNet's LOC_synset_mapping.txt or words.txt: on each line a
// class, a tab, and the text; of a line without a tab the class ends at the
// first space. The file lies in the tree's root or else in `folder` ("" or
// "photos/").
//
// root: before a path in messages: "photos/", "photos.zip#". find: returns a
// file's content; nullopt if there is none. Throws DataError for a text with a
// control character, and what find throws. Adds a note on lines of
// class_names.txt that name none of the classes, which are sorted.
[[nodiscard]] ClassTexts FindClassTexts(
    const std::string& root, const std::string& folder,
    const std::vector<std::string>& classes,
    const std::function<std::optional<std::string>(const std::string& path)>&
        find,
    std::vector<std::string>& notes);

// FindClassTexts() of a folder, which may be a URL. inner: the folder in it
// that all images share; "" or with a slash at its end. Throws IoError, too.
[[nodiscard]] ClassTexts ReadClassTexts(const std::string& folder,
                                        const std::string& inner,
                                        const std::vector<std::string>& classes,
                                        std::vector<std::string>& notes);

}  // namespace infeed
