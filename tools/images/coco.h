#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/store/image_tree.h"
#include "tools/images/annotations.h"

namespace infeed {

struct CocoFile {
  std::vector<std::string> names = {};  // file_name of each image
  std::vector<ImageObjects> images = {};
  LabelNames labels = {};
};

// Parses a COCO file. Throws DataError, without an origin, that names list and
// element.
[[nodiscard]] CocoFile ParseCoco(std::string_view json);

// Lists the images of COCO files (instances_train2017.json) with their boxes. A
// file's images lie in the folder under their file_name, or in its folder
// "images", or in one named as the file ends, "train2017"; without a folder,
// beside the file. The word in the name of the file or of its folder is the
// split.
//
// A box is x, y, x + w, y + h, added as float32, as torchvision does; its label
// is the category_id. Throws DataError that names file and annotation, IoError,
// UsageError. Requires: at least one file.
[[nodiscard]] ImageTree ReadCoco(const std::vector<std::string>& files,
                                 const std::string& folder,
                                 const AnnotationOptions& options);

}  // namespace infeed
