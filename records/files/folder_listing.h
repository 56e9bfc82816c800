#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace infeed {

struct ObjectInfo;

struct FolderEntry {
  std::string name;
  std::int64_t bytes = 0;
  // For an object in a store: its info, so that it can be read without another
  // request for it. Null for a file.
  std::shared_ptr<const ObjectInfo> object = nullptr;
  std::error_code error = {};  // of a file that cannot be read
};

// The entries of a folder, links followed, or of a "folder" of a bucket. Each
// list is sorted bytewise by name, so that the order does not depend on the
// file system or the store.
struct FolderListing {
  std::vector<std::string> folders;
  std::vector<FolderEntry> images;   // by extension
  std::vector<std::string> ignored;  // hidden entries, and other kinds of files
  // Links that lead nowhere, perhaps to a folder; not those named as images.
  std::vector<FolderEntry> broken = {};
};

// Throws IoError when the folder cannot be read, or a bucket has no object
// under that name; UsageError for an invalid URL, or one of a web server, which
// cannot list files.
[[nodiscard]] FolderListing ListFolder(const std::string& path);

// Whether a file or folder is none of the user's: .DS_Store, ._photo.jpg, .git,
// __MACOSX.
[[nodiscard]] bool IsHiddenName(std::string_view name);

// Whether a file's name has the extension of an image, in any case.
[[nodiscard]] bool HasImageExtension(std::string_view name);

// All that is below a folder, or a "folder" of a bucket. Paths are relative to
// it. Links are followed once: one that leads to a folder above it, or to one
// that was walked below the same folder of a class, ends there.
struct FolderWalk {
  std::vector<FolderEntry> images;   // by extension; sorted by path, bytewise
  std::vector<std::string> ignored;  // hidden entries, and other kinds of files
  std::vector<std::string> empty;    // folders with no images and no folders
  std::vector<std::string> ended;    // links that were not followed again
};

enum class UnreadableFiles { kThrow, kTake };

// Throws what ListFolder() throws, and IoError for a broken link, or, if so
// told, for an image that cannot be read.
[[nodiscard]] FolderWalk WalkFolder(
    const std::string& folder,
    UnreadableFiles unreadable = UnreadableFiles::kThrow);

}  // namespace infeed
