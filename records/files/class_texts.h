#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// Readable names of classes, which become image/class/text.
namespace infeed {

// By class; classes without one are missing.
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
// control character, and what find throws.
[[nodiscard]] ClassTexts FindClassTexts(
    const std::string& root, const std::string& folder,
    const std::function<std::optional<std::string>(const std::string& path)>&
        find);

// FindClassTexts() of a folder, which may be a URL. inner: the folder in it
// that all images share; "" or with a slash at its end. Throws IoError, too.
[[nodiscard]] ClassTexts ReadClassTexts(const std::string& folder,
                                        const std::string& inner = "");

}  // namespace infeed
