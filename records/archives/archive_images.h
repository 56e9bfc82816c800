#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "records/files/class_list.h"

// The images of a zip or a tar that holds a tree of them, and their classes.
namespace infeed {

// A file in an archive.
struct ArchiveFile {
  std::string name = {};    // with folders; any bytes
  std::int64_t offset = 0;  // of its header in the archive
  std::int64_t extent = 0;  // bytes to read for the file
  std::int64_t bytes = 0;   // of its content, as the archive claims
  bool is_readable = true;  // else a link that leads to no file in it
};

struct ArchiveImages {
  struct Image {
    std::int64_t offset = 0;  // as of its ArchiveFile
    std::int64_t extent = 0;
    std::int64_t bytes = 0;
    std::int32_t class_index = -1;  // into classes; -1: no class
    std::int32_t split = 0;         // into kSplits (split_names.h)
  };

  // The classes of all splits, as in image_layout.h.
  std::vector<std::string> classes = {};
  ClassTexts class_texts = {};     // of those of `classes` that have one
  std::vector<Image> images = {};  // by split, then by name, bytewise
  bool has_splits = false;         // else all of it is train
  // Sentences for the user, after the archive's path: images that are left out,
  // and entries that are links or whose names are absolute or have "..".
  std::vector<std::string> notes = {};
};

// Finds the images of all splits, in the layouts of image_layout.h. A name with
// backslashes and no slash is one of Windows. path: of the archive. read
// returns a file's content. Throws as LayOutImages() and FindClassTexts(), and
// DataError if an image or a label file occurs twice.
[[nodiscard]] ArchiveImages FindArchiveImages(
    const std::string& path, const std::vector<ArchiveFile>& files,
    const std::function<std::string(const ArchiveFile&)>& read);

// The name of a file in an archive, with "/" between its folders.
[[nodiscard]] std::string ArchiveName(std::string_view name);

// Removes the images of all other splits; "" keeps all.
void KeepSplit(std::string_view split, ArchiveImages& images);

}  // namespace infeed
