#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "preprocess/pixels/image.h"

namespace infeed {

// Decodes a BMP, WebP, TIFF, JPEG 2000 or PNM image to RGB. Throws DataError
// when OpenCV cannot read it, or was built without image codecs. Requires: at
// most 2^31 - 1 bytes.
void DecodeByOpencv(std::span<const std::byte> bytes, RgbImage& image);

// Resizes an image to width x height pixels: to a smaller size by the mean of
// the area that a pixel covers, to a larger size bicubic. Requires: all sizes >
// 0.
void ResizeArea(const RgbView& source, int width, int height, RgbImage& image);

// Renders a line of text, black on white, kTextHeight pixels high. Non-ASCII
// characters become '?'.
inline constexpr int kTextHeight = 14;
[[nodiscard]] RgbImage TextImage(std::string_view text);

}  // namespace infeed
