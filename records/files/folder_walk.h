#pragma once

#include <string>
#include <vector>

#include "records/files/folder_listing.h"

namespace infeed {

// All that is below a folder, or a "folder" of a bucket. Paths are relative to
// it. Links are followed once: one that leads to a folder above it, or to one
// that was walked below the same folder of a class, ends there.
struct FolderWalk {
  std::vector<FolderEntry> images;   // by extension; sorted by path, bytewise
  std::vector<std::string> ignored;  // hidden entries, and other kinds of files
  std::vector<std::string> empty;    // folders with no images and no folders
  std::vector<std::string> ended;    // links that were not followed again
};

// Throws what ListFolders() throws.
[[nodiscard]] FolderWalk WalkFolder(const std::string& folder);

}  // namespace infeed
