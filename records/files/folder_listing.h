#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace infeed {

struct ObjectInfo;

struct FolderEntry {
  std::string name;
  std::int64_t bytes = 0;
  // Of an object in a store: its state, by which it can be read without being
  // asked for again. Null for a file.
  std::shared_ptr<const ObjectInfo> object = nullptr;
};

// What lies in a folder, links followed, or in a "folder" of a bucket. The
// lists are sorted by name, bytewise, so that nothing depends on the order of
// the file system or the store.
struct FolderListing {
  std::vector<std::string> folders;
  std::vector<FolderEntry> images;   // by extension
  std::vector<std::string> ignored;  // hidden ones, and files of other kinds

  [[nodiscard]] bool HasFolder(std::string_view name) const;
};

// Throws IoError when the folder or something in it cannot be read, or nothing
// lies in a bucket under its name; UsageError for a URL that is none, or of a
// web server, which has no lists.
[[nodiscard]] FolderListing ListFolder(const std::string& path);

// The same for several; those of buckets are asked for side by side.
[[nodiscard]] std::vector<FolderListing> ListFolders(
    const std::vector<std::string>& paths);

// Whether a file's name has the extension of an image, in any case.
[[nodiscard]] bool HasImageExtension(std::string_view name);

}  // namespace infeed
