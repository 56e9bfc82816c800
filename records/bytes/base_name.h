#pragma once

#include <string_view>

namespace infeed {

// What stands behind the last "/" of a path or URL; all of it where there is
// none.
[[nodiscard]] inline std::string_view BaseName(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace infeed
