#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/images/raw_images.h"
#include "tools/images/tree.h"

// The raw files of each format, under their usual names in one folder. Nothing
// is allocated for a file before its size is known to be the right one.
namespace infeed {

// One raw file, with the class index of each image.
struct LabelledPart {
  std::string split;
  RawPart part;
  std::vector<std::int32_t> classes;
};

struct RawSet {
  std::vector<LabelledPart> parts;
  std::vector<ImageClass> classes;
  std::vector<std::string> notes;
};

// These throw IoError, UsageError for labels that are missing, and DataError
// for a file that does not fit or a label that is out of range. Files that are
// not there give no parts.
[[nodiscard]] RawSet ReadXlaJl(const std::string& folder);
[[nodiscard]] RawSet ReadIdx(const std::string& folder);
[[nodiscard]] RawSet ReadCifar10(const std::string& folder);

}  // namespace infeed
