#pragma once

#include <string>
#include <vector>

#include "tools/images/tree.h"

// Where the images of a manifest lie: files, or objects and files of web
// servers, by URL.
namespace infeed {

// The folder, or the URL of the "folder", that a manifest lies in.
[[nodiscard]] std::string FolderOfManifest(const std::string& manifest);

// The path or URL of an image that a manifest calls `written`: from the folder
// on, unless it is a URL or an absolute path itself. "." and ".." are resolved.
// Throws UsageError for a URL that is none.
[[nodiscard]] std::string ImagePathFrom(const std::string& folder,
                                        const std::string& written);

// Asks the stores, side by side, for the objects of images whose paths are
// URLs, and sets their bytes and object. Returns the first image of which there
// is no object; null when all are there. Throws IoError and UsageError.
[[nodiscard]] const ImageFile* FindObjects(
    const std::vector<ImageFile*>& images);

}  // namespace infeed
