#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "records/store/image_tree.h"
#include "tests/support/image_folder.h"
#include "tools/images/annotations.h"

namespace infeed {

// "NAME:LABEL LABEL" of each image of a split, without the raw folder.
inline std::vector<std::string> Labels(const ImageSplit& split,
                                       const ImageFolder& raw) {
  std::vector<std::string> images;
  for (const ImageFile& image : split.images) {
    std::string text = image.path.substr(raw.path().size() + 1) + ":";
    for (const AnnotatedObject& object : image.objects->objects) {
      text += " " + std::to_string(object.label);
    }
    images.push_back(std::move(text));
  }
  return images;
}

inline std::vector<std::uint32_t> BitsOf(const AnnotatedObject& object) {
  std::vector<std::uint32_t> bits;
  for (const float side : object.box) {
    bits.push_back(std::bit_cast<std::uint32_t>(side));
  }
  return bits;
}

}  // namespace infeed
