#pragma once

#include <cstddef>
#include <span>

#include "preprocess/pixels/image.h"

namespace infeed {

// Decodes a BMP, TIFF, JPEG 2000 or PNM image to RGB. Throws DataError
// when OpenCV cannot read it, and in a build without its image codecs.
// Requires: at most 2^31 - 1 bytes.
void DecodeByOpencv(std::span<const std::byte> bytes, RgbImage& image);

}  // namespace infeed
