#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "preprocess/image.h"

namespace infeed {

// Working memory of a resize, kept from image to image.
struct ResizeScratch {
  std::vector<std::int32_t> columns;
  std::vector<std::int32_t> rows;
};

// Resizes an image to size x size with TensorFlow's legacy bicubic kernel (A =
// -0.75, no half-pixel offset, 1,024 steps a pixel, edges repeated, no
// antialiasing) and writes the pixels packed, R << 24 | G << 16 | B << 8, into
// destination, mirrored left to right where flip is set. Fixed point: rounds
// half up and clamps to 0..255; this scalar function defines the bytes that
// every other implementation must give, and lies within one level of the
// formula in floating point. Requires: destination.size() == size * size.
void ResizeBicubic(const RgbView& source, int size, bool flip,
                   ResizeScratch& scratch,
                   std::span<std::uint32_t> destination);

}  // namespace infeed
