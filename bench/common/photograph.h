#pragma once

#include <cstdint>
#include <string>

#include "tests/support/test_jpeg.h"

namespace infeed {

inline constexpr int kPhotographWidth = 500;
inline constexpr int kPhotographHeight = 375;

// A JPEG of ImageNet's usual size and quality, with optimized Huffman tables;
// sampling is a Subsampling as an integer, the type of benchmark arguments.
inline std::string Photograph(std::int64_t sampling) {
  return TestJpeg({.width = kPhotographWidth,
                   .height = kPhotographHeight,
                   .quality = 96,
                   .subsampling = static_cast<Subsampling>(sampling),
                   .optimize = true});
}

}  // namespace infeed
