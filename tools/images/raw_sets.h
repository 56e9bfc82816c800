#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/images/raw_images.h"
#include "tools/images/tree.h"

// The raw files of each format, under their usual names in one folder. A file's
// size is checked before memory is allocated for it.
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

// These throw IoError, UsageError for missing labels, and DataError for a file
// that does not match the format or a label out of range. Missing files give no
// parts.
[[nodiscard]] RawSet ReadXlaJl(const std::string& folder);
[[nodiscard]] RawSet ReadIdx(const std::string& folder);
[[nodiscard]] RawSet ReadCifar10(const std::string& folder);

}  // namespace infeed
