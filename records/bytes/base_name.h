#pragma once

#include <string_view>

namespace infeed {

// The part of a path or URL behind its last "/"; all of it if there is none.
[[nodiscard]] inline std::string_view BaseName(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace infeed
