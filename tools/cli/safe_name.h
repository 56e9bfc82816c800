#pragma once

#include <string>
#include <string_view>

namespace infeed {

// Returns text from a record as the name of one file or folder: slashes and
// control characters become '_', an empty name, "." and ".." become '_' too,
// and a long one is cut in front of its extension. Never leaves the folder
// that it is put in.
[[nodiscard]] std::string SafeName(std::string_view text);

// "a.b.jpg" -> "a.b" and ".jpg"; a name that only begins with a point has no
// extension.
struct NameParts {
  std::string stem;
  std::string extension;  // with its point, or empty
};
[[nodiscard]] NameParts SplitName(std::string_view name);

}  // namespace infeed
