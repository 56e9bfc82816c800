#pragma once

#include <string_view>

namespace infeed {

// "0.1.0".
[[nodiscard]] std::string_view BuildVersion();
// The first twelve digits of the commit that the program was built from,
// followed by "-dirty" if files had been changed since; "unknown" if the
// sources were not in a repository. cmake/build_version.cmake generates the
// definition.
[[nodiscard]] std::string_view BuildCommit();

}  // namespace infeed
