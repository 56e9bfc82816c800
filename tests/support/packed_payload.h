#pragma once

#include <string>

#include "preprocess/pixels/image_size.h"
#include "records/example/imagenet_example.h"

namespace infeed {

// A record's payload with packed pixels, of another colour in every place and
// for every label.
inline std::string PackedPayload(int label, const ImageSize& size) {
  std::string pixels;
  for (int i = 0; i < size.height * size.width; ++i) {
    pixels += '\0';
    pixels += static_cast<char>(i % 251);
    pixels += static_cast<char>(37 * label);
    pixels += static_cast<char>(i / size.width);
  }
  return BuildImagenetExample({.height = size.height,
                               .width = size.width,
                               .label = label + 1,
                               .packed = pixels});
}

}  // namespace infeed
