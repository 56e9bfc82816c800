#pragma once

#include <string>
#include <vector>

#include "tools/images/tree.h"

namespace infeed {

// Lists the images of several folders, each in a layout of FindImages(), as one
// tree: classes of the same name are one class, splits of the same name one
// split. Images are sorted by their path within their folder, so that the
// folders' own paths do not matter. Throws what FindImages() throws, and
// UsageError when the folders do not match: split folders in some and plain
// class folders in others, or the same file name in the same class and split
// twice. Requires: at least one folder.
[[nodiscard]] ImageTree FindImagesIn(
    const std::vector<std::string>& raw_data_dirs);

}  // namespace infeed
