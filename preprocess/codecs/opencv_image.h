#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "preprocess/pixels/image.h"

namespace infeed {

// Decodes a PNG (png_image.h), or a BMP, WebP, TIFF, JPEG 2000 or PNM image
// through OpenCV, to RGB, for records and files that are not JPEG. Gray is
// spread, alpha dropped, EXIF orientation ignored. Throws DataError for other
// formats (their sizes cannot be known before OpenCV allocates), when the
// header claims more than max_pixels, and when OpenCV cannot read the image.
void DecodeOtherImage(std::span<const std::byte> bytes, std::int64_t max_pixels,
                      RgbImage& image);

// Resizes an image to width x height pixels: each pixel of a smaller one is the
// mean of the area that it covers, a larger one is bicubic. Requires: all sizes
// > 0.
void ResizeArea(const RgbView& source, int width, int height, RgbImage& image);

// A line of text, black on white, as high as kTextHeight. Characters outside of
// ASCII are '?'.
inline constexpr int kTextHeight = 14;
[[nodiscard]] RgbImage TextImage(std::string_view text);

// Returns the image as a PNG: nothing of it is lost. Requires: it has pixels.
[[nodiscard]] std::string EncodePng(const RgbView& image);

}  // namespace infeed
