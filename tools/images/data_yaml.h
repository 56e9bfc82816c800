#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/images/annotations.h"

namespace infeed {

// A data.yaml, with which Ultralytics describes a YOLO data set.
struct DataYaml {
  // Images of a split: a folder, or a .txt list of images.
  struct Entry {
    std::string key = {};
    std::string_view split = {};
    std::string path = {};
  };

  std::string file = {};              // its path below RAW
  LabelNames names = {};              // empty: none
  std::size_t key_point_numbers = 0;  // of each line; 0: no key points
  std::string root = {};              // `path`, which entries are relative to
  std::vector<Entry> entries = {};
};

// Reads each data.yaml or data.yml of a folder, in the order of their paths;
// without any, the YAML file of another name in RAW that has names or train;
// others there that are not YAML are noted.
// Without a class list in the options each must have names; kpt_shape is not
// read if the options have one. Throws IoError, UsageError for two such files,
// and DataError, also for two data.yaml that have other names or key points.
[[nodiscard]] std::vector<DataYaml> ReadDataYamls(
    const AnnotatedFolder& folder, const AnnotationOptions& options,
    std::vector<std::string>& notes);

}  // namespace infeed
