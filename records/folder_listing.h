#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

struct FolderEntry {
  std::string name;
  std::int64_t bytes = 0;
};

// What lies in a folder, links followed. Both lists are sorted by name,
// bytewise, so that nothing depends on the file system's order.
struct FolderListing {
  std::vector<std::string> folders;
  std::vector<FolderEntry> images;   // by extension
  std::vector<std::string> ignored;  // hidden ones, and files of other kinds

  [[nodiscard]] bool HasFolder(std::string_view name) const;
};

// Throws IoError when the folder or something in it cannot be read.
[[nodiscard]] FolderListing ListFolder(const std::string& path);

// Whether a file's name has the extension of an image, in any case.
[[nodiscard]] bool HasImageExtension(std::string_view name);

}  // namespace infeed
