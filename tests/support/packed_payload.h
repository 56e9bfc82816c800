#pragma once

#include <cstdint>
#include <string>

#include "records/example/imagenet_example.h"

namespace infeed {

// A record's payload with packed pixels, of another colour in every place and
// for every label.
inline std::string PackedPayload(int label, int side) {
  std::string pixels;
  for (int i = 0; i < side * side; ++i) {
    pixels += '\0';
    pixels += static_cast<char>(i % 251);
    pixels += static_cast<char>(37 * label);
    pixels += static_cast<char>(i / side);
  }
  ImagenetExample example;
  example.height = side;
  example.width = side;
  example.label = label + 1;
  example.packed = pixels;
  return BuildImagenetExample(example);
}

}  // namespace infeed
