#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/files/folder_listing.h"
#include "tools/images/annotations.h"
#include "tools/images/data_yaml.h"

namespace infeed {

struct YoloImage {
  const FolderEntry* entry = nullptr;
  std::string_view split = {};  // empty: the data set is not divided
};

struct YoloSplits {
  std::vector<YoloImage> images = {};   // in the folder's order
  std::vector<std::string> notes = {};  // of what is left out
};

// Divides the images of a folder. The first of these counts that names images:
//
//   train, val and test of the data.yaml files, as in Ultralytics
//   lists beside the folders, if no folder is named after a split: train.txt,
//   with val.txt and test.txt (by any names of splits), as in Darknet
//   the names of folders
//
// Paths that were made on another machine are found by their last parts. Images
// beside such a data.yaml that no entry names are left out, unless their folder
// is named after a split that has no entry. Throws UsageError for an image in
// two splits and as SplitsInPaths(), DataError for a list that names a missing
// image, IoError.
[[nodiscard]] YoloSplits FindYoloSplits(const AnnotatedFolder& in,
                                        const std::string& folder,
                                        const std::vector<DataYaml>& yamls);

}  // namespace infeed
