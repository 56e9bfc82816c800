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
  ImagenetExample example;
  example.height = size.height;
  example.width = size.width;
  example.label = label + 1;
  example.packed = pixels;
  return BuildImagenetExample(example);
}

}  // namespace infeed
