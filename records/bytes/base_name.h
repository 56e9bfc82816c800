#pragma once

#include <cstddef>
#include <string_view>

namespace infeed {

// The part of a path or URL behind its last "/"; all of it if there is none.
[[nodiscard]] inline std::string_view BaseName(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// The part of a name behind its last "."; empty if there is none.
[[nodiscard]] inline std::string_view Extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view()
                                       : name.substr(dot + 1);
}

// The first folder of a relative path; empty if it has none.
[[nodiscard]] inline std::string_view FirstFolder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view()
                                         : path.substr(0, slash);
}

// A relative path without its first folder. Requires: it has one.
[[nodiscard]] inline std::string_view BelowFirstFolder(std::string_view path) {
  return path.substr(path.find('/') + 1);
}

}  // namespace infeed
