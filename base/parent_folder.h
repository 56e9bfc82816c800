#pragma once

#include <filesystem>
#include <string>

namespace infeed {

// The folder that contains a path; "." for a bare name.
[[nodiscard]] inline std::string ParentFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace infeed
