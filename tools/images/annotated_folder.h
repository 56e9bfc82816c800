#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/folder_listing.h"
#include "records/store/image_tree.h"

namespace infeed {

// The files below a folder, or a "folder" of a bucket, in which images and
// annotations are found by their paths. Paths are relative, with "/".
class AnnotatedFolder {
 public:
  // Throws IoError, UsageError.
  explicit AnnotatedFolder(const std::string& folder);

  // Sorted by name, bytewise.
  [[nodiscard]] const std::vector<FolderEntry>& images() const {
    return images_;
  }
  // Null: there is no image of that path.
  [[nodiscard]] const FolderEntry* FindImage(std::string_view path) const;
  // The first image of that path and any image's extension.
  [[nodiscard]] const FolderEntry* FindImageOf(std::string_view stem) const;
  // Files other than images.
  [[nodiscard]] const std::set<std::string, std::less<>>& files() const {
    return files_;
  }
  // The first of some files that is there, or "".
  [[nodiscard]] std::string FirstOf(
      const std::vector<std::string>& paths) const;

  [[nodiscard]] std::string PathOf(std::string_view path) const;
  [[nodiscard]] ImageFile FileOf(const FolderEntry& image) const;
  // Throws IoError, also for more than max_bytes.
  [[nodiscard]] std::string Read(std::string_view path,
                                 std::int64_t max_bytes) const;

 private:
  std::string root_;  // with a slash at its end
  std::vector<FolderEntry> images_;
  std::set<std::string, std::less<>> files_;
};

// The split that a folder of a path is named after; "" if none is.
[[nodiscard]] std::string_view SplitInPath(std::string_view path);

// A path without its extension.
[[nodiscard]] std::string_view WithoutExtension(std::string_view path);

// The path with its last folder of that name, in any case, named otherwise; ""
// if it has none.
[[nodiscard]] std::string WithFolder(std::string_view path,
                                     std::string_view name,
                                     std::string_view other);

}  // namespace infeed
