#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/atomic_file.h"

namespace infeed {

namespace files_in_internal {

inline constexpr std::int64_t kMaxBytes = 1 << 26;

template <typename Entries>
std::map<std::string, std::string> Read(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : Entries(folder)) {
    if (entry.is_regular_file()) {
      files[entry.path().lexically_relative(folder).string()] =
          ReadWholeFile(entry.path().string(), kMaxBytes);
    }
  }
  return files;
}

}  // namespace files_in_internal

// The bytes of the files directly in a folder, by name: what readers see of
// shards, without the side files.
[[nodiscard]] inline std::map<std::string, std::string> FilesIn(
    const std::string& folder) {
  return files_in_internal::Read<std::filesystem::directory_iterator>(folder);
}

// The bytes of all files below a folder, by the path in it.
[[nodiscard]] inline std::map<std::string, std::string> FilesBelow(
    const std::string& folder) {
  return files_in_internal::Read<std::filesystem::recursive_directory_iterator>(
      folder);
}

}  // namespace infeed
