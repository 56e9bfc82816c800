#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace infeed {

// How many files of a folder this process has open.
[[nodiscard]] inline std::size_t CountOpenFiles(const std::string& folder) {
  namespace fs = std::filesystem;
  return static_cast<std::size_t>(std::ranges::count_if(
      fs::directory_iterator("/proc/self/fd"), [&](const auto& entry) {
        std::error_code ignored;
        return fs::read_symlink(entry.path(), ignored).parent_path() == folder;
      }));
}

}  // namespace infeed
