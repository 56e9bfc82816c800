#pragma once

#include <string>
#include <vector>

#include "tools/images/tree.h"

namespace infeed {

// Lists the images in several folders, each of a layout that FindImages()
// takes, as one tree: classes of the same name are one class, splits of the
// same name one split, whose images are sorted by their path within their
// folder, so that where the folders lie does not matter. Throws as FindImages()
// does, and UsageError when the folders do not go together: split folders in
// some and plain class folders in others, or the same file name in the same
// class and split twice. Requires: at least one folder.
[[nodiscard]] ImageTree FindImagesIn(
    const std::vector<std::string>& raw_data_dirs);

}  // namespace infeed
