#pragma once

#include <cstddef>
#include <span>

namespace infeed {

// How OpenCV's 8-bit samples of an image become those of its own depth.
struct SampleDepth {
  // Above 0: white of 16-bit samples that the image's tag names; OpenCV is to
  // return 16 bits.
  int max_value = 0;
  // Whether a 16-bit image that is nearly black has fewer bits than it claims.
  bool may_be_less = false;
  // Significant high bits of red and blue, and of green.
  int bits = 8;
  int green_bits = 8;
};

// Returns the depth of a BMP, TIFF or JPEG 2000 image. Throws DataError for
// samples that OpenCV cannot read, or would read wrongly.
[[nodiscard]] SampleDepth ReadSampleDepth(std::span<const std::byte> bytes);

}  // namespace infeed
