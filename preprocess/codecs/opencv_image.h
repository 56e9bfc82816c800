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
// copied to all channels, alpha dropped, EXIF orientation ignored. Throws
// DataError for other formats (their sizes are not known before OpenCV
// allocates), when the header claims more than max_pixels, and when OpenCV
// cannot read the image.
void DecodeOtherImage(std::span<const std::byte> bytes, std::int64_t max_pixels,
                      RgbImage& image);

// Resizes an image to width x height pixels: to a smaller size by the mean of
// the area that a pixel covers, to a larger size bicubic. Requires: all sizes >
// 0.
void ResizeArea(const RgbView& source, int width, int height, RgbImage& image);

// Renders a line of text, black on white, kTextHeight pixels high. Non-ASCII
// characters become '?'.
inline constexpr int kTextHeight = 14;
[[nodiscard]] RgbImage TextImage(std::string_view text);

// Returns the image as a PNG (lossless). Requires: it has pixels.
[[nodiscard]] std::string EncodePng(const RgbView& image);

}  // namespace infeed
