#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "preprocess/image.h"

namespace infeed {

// Decodes any image that OpenCV reads (PNG, WebP, TIFF, BMP, ...) to RGB, for
// records and files that are not JPEG. Gray is spread, alpha dropped, EXIF
// orientation ignored. Throws DataError when OpenCV cannot read it or when its
// header claims more than max_pixels.
void DecodeOtherImage(std::span<const std::byte> bytes, std::int64_t max_pixels,
                      RgbImage& image);

// Returns the image as a PNG, for tests and pictures.
[[nodiscard]] std::string EncodePng(const RgbView& image);

}  // namespace infeed
