#pragma once

#include <string>
#include <string_view>

namespace infeed {

// Returns text from a record as the name of one file or folder: slashes and
// control characters become '_', an empty name, "." and ".." become '_' too, a
// hidden name, which readers pass over, gets one in front, and a long name is
// cut before its extension. Such a name never leads out of its folder.
[[nodiscard]] std::string SafeName(std::string_view text);

}  // namespace infeed
